"""What is measured of one episode, all of it from the log.

`t` is a step at which a chunk was planned, `T_g` the first step that closes the gripper, and the pre-grasp window what
lies before it (all, where nothing closes). `P` is where the object truly was, `p` where the hand was.

    fde_m                 |channel - P at the time that the channel speaks of|, mean over t with that time before T_g
    hand_object_ta_m      |p - P| at t + T_a, mean over t + T_a <= T_g: the invariant that SIDO preserves
    hand_object_tp_m      the same at t + T_p
    sparc                 smoothness of the hand's speed before T_g
    lead_at_closing_m     how far the hand is ahead of the object at T_g, along its way
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Float, Int

from sido.arrays import Array
from sido.control import Phase
from sido.evaluate.failure import Failure, failure_of
from sido.evaluate.grasps import first_closing, grasps_of, lead_m
from sido.evaluate.rollout import Rollout
from sido.geometry import sparc

__all__ = ["TURN_WINDOW_S", "Measures", "forecast_errors_m", "measure", "planned_steps"]

TURN_WINDOW_S = 3.0
"""An episode has no turn where its object would not turn within so long: a first grasp takes 2 to 3 s. What is asked
is the plan, not what happened, so that the answer is the same for all policies."""

_SHORTEST = 4
"""Samples of a speed profile that has a spectrum worth the name."""


@final
@dataclass(frozen=True)
class Measures:
    """Of one rollout; NaN where there is nothing to measure."""

    seed: int
    success: bool
    failure: Failure | None
    turns_early: bool
    """The object's plan turns within `TURN_WINDOW_S`."""
    duration_s: float
    lifted: bool
    """The object was lifted at some time."""
    grasps: int
    lost_grasps: int
    """Those that ended otherwise than in success or with the episode."""
    closing_s: float
    lead_at_closing_m: float
    fde_m: float
    hand_object_ta_m: float
    hand_object_tp_m: float
    sparc: float

    @property
    def time_to_success_s(self) -> float:
        return self.duration_s if self.success else math.nan


def measure(rollout: Rollout, *, action_horizon: int = 8, prediction_horizon: int = 16) -> Measures:
    """Derive them."""
    closing = first_closing(rollout)
    until = len(rollout) if closing is None else closing
    grasps = grasps_of(rollout)
    ended = bool(grasps) and (rollout.success or grasps[-1].stop == len(rollout))
    starts = planned_steps(rollout, until)
    turns = rollout.turns_s
    return Measures(
        seed=rollout.seed,
        success=rollout.success,
        failure=failure_of(rollout),
        turns_early=bool((turns <= TURN_WINDOW_S).any()),
        duration_s=rollout.duration_s,
        lifted=any(grasp.lifted for grasp in grasps),
        grasps=len(grasps),
        lost_grasps=len(grasps) - ended,
        closing_s=math.nan if closing is None else closing * rollout.period_s,
        lead_at_closing_m=math.nan if closing is None else lead_m(rollout, closing),
        fde_m=_mean(forecast_errors_m(rollout, until)),
        hand_object_ta_m=_mean(_hand_object_m(rollout, starts + action_horizon, until)),
        hand_object_tp_m=_mean(_hand_object_m(rollout, starts + prediction_horizon, until)),
        sparc=_sparc(rollout, until),
    )


def planned_steps(rollout: Rollout, until: int) -> Int[Array, " K"]:
    """The steps before `until` at which a chunk was planned while the object was still to be reached."""
    return np.flatnonzero(rollout.planned[:until] & (rollout.phase[:until] == Phase.REACHING))


def forecast_errors_m(rollout: Rollout, until: int) -> Float[Array, " K"]:
    """Of each forecast that the policy was told and whose time came before step `until`."""
    starts = planned_steps(rollout, until)
    then = rollout.channel_time_s[starts] / rollout.period_s
    judged = np.isfinite(rollout.channel[starts]).all(axis=1) & (then <= until + 1e-3)
    starts, then = starts[judged], then[judged].astype(float)
    steps = np.arange(len(rollout) + 1)
    truth = np.stack([np.interp(then, steps, rollout.object_position[:, k]) for k in range(3)], axis=1)
    return np.linalg.norm(rollout.channel[starts] - truth, axis=1)


def _hand_object_m(rollout: Rollout, steps: Int[Array, " K"], until: int) -> Float[Array, " L"]:
    steps = steps[steps <= until]
    return np.linalg.norm(rollout.eef_position[steps] - rollout.object_position[steps], axis=1)


def _sparc(rollout: Rollout, until: int) -> float:
    way = np.diff(rollout.eef_position[: until + 1].astype(float), axis=0)
    speed = np.linalg.norm(way, axis=1) / rollout.period_s
    if len(speed) < _SHORTEST or speed.max() == 0.0:
        return math.nan
    return float(sparc(speed, 1.0 / rollout.period_s))


def _mean(values: Float[Array, " K"]) -> float:
    return float(values.mean()) if len(values) else math.nan
