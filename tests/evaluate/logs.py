"""Logs made by hand: an object on its way, and a hand that does what the test says."""

from __future__ import annotations

from typing import Any

import numpy as np

from sido.evaluate.rollout import Rollout

PERIOD_S = 0.05


def log(
    hand: np.ndarray,
    thing: np.ndarray,
    *,
    closing: range | None = None,
    held: tuple[range, ...] = (),
    ending: str = "time",
    action: np.ndarray | None = None,
    every: int = 8,
    channel: np.ndarray | None = None,
    ahead_steps: int = 16,
    seed: int = 0,
    turns_s: tuple[float, ...] = (),
    **others: Any,
) -> Rollout:
    """`hand` and `thing` are [T + 1, 3]; actions are where the hand is next, chunks begin every `every` steps."""
    steps = len(hand) - 1
    t = np.arange(steps)
    closes = np.isin(t, list(closing or ()))
    holds = np.isin(t, [step for part in held for step in part])
    planned = t % every == 0
    starts = t - t % every
    goals = hand[1:] if action is None else action
    told = thing[starts] if channel is None else channel
    quiet = np.zeros(steps, dtype=bool)
    arrays: dict[str, Any] = {
        "eef_position": hand,
        "eef_quat_wxyz": np.tile([0.0, 1.0, 0.0, 0.0], (steps + 1, 1)),
        "gripper": np.zeros((steps + 1, 2)),
        "object_position": thing,
        "object_velocity_mps": np.gradient(thing, PERIOD_S, axis=0),
        "seen_position": thing,
        "seen_time_s": PERIOD_S * np.arange(steps + 1),
        "target_position": np.zeros((steps + 1, 3)),
        "action": np.concatenate([goals, np.zeros((steps, 4))], axis=1),
        "planned": planned,
        "chunk_step": t % every,
        "phase": np.where(np.cumsum(closes) > 0, 1, 0),
        "channel": told,
        "channel_time_s": PERIOD_S * (starts + ahead_steps),
        "shift_m": np.zeros((steps, 3)),
        "closing": closes,
        "left_pad": holds,
        "right_pad": holds,
        "finger": holds,
        "table": quiet,
        "held": holds,
        "driven": ~holds,
        "released": quiet,
        "resumed": quiet,
    } | others
    kinds = {"f": np.float32, "i": np.int16, "b": np.bool_}
    return Rollout(
        seed=seed,
        ending=ending,
        fault="",
        period_s=PERIOD_S,
        turns_s=np.array(turns_s, dtype=np.float32),
        **{name: array.astype(kinds[array.dtype.kind]) for name, array in arrays.items()},
    )


def straight(steps: int, speed_mps: float = 0.04, start: tuple[float, float, float] = (0.5, 0.0, 0.02)) -> np.ndarray:
    """Along x, [steps + 1, 3]."""
    way = PERIOD_S * speed_mps * np.arange(steps + 1)
    return np.array(start) + np.stack([way, 0 * way, 0 * way], axis=1)


def lifted(thing: np.ndarray, start: int, stop: int, height_m: float = 0.1) -> np.ndarray:
    """The same, but in the air from `start` until before `stop`."""
    raised = thing.copy()
    raised[start:stop, 2] += height_m
    return raised
