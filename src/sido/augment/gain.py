"""How much of what relative actions command the robot really does."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from sido.arrays import Array
from sido.demos.demo import Demo
from sido.errors import DataError, SettingError

__all__ = ["GainFit", "RelativeGain", "estimate_gain"]


@dataclass(frozen=True)
class GainFit:
    """The least-squares `g` in `realised = g * commanded`, over windows of `steps` control steps."""

    steps: int
    gain: float
    residual_m: float
    """Root mean square of `|realised - g * commanded|`, metres: how far one number explains the arm."""


@dataclass(frozen=True)
class RelativeGain:
    """The realised over the commanded displacement of relative actions, at the two horizons of a chunk."""

    at_action_horizon: GainFit
    at_prediction_horizon: GainFit
    windows: int
    """How many eligible chunks it rests on."""

    def __str__(self) -> str:
        fits = (self.at_action_horizon, self.at_prediction_horizon)
        parts = [f"{fit.gain:.3f} after {fit.steps} steps (residual {1000 * fit.residual_m:.2g} mm)" for fit in fits]
        return f"the arm realises {', '.join(parts)} of what it is told, over {self.windows} chunks"


def estimate_gain(demos: Iterable[Demo], *, prediction_horizon: int = 16, action_horizon: int = 8) -> RelativeGain:
    """Fit the gain of relative actions over the eligible chunks of demonstrations whose grasp is known.

    With `x = position_scale_m * sum_{j<k} a_{t+j}` and `y = p_{t+k} - p_t`, the gain at `k` is `sum x.y / sum x.x`
    over all `t` with `t + T_p <= T_g`, once for `k = T_a` and once for `k = T_p`. An OSC controller re-anchors each
    increment at the pose that the arm has reached, and realises a fifth to a quarter of their sum. Give
    `at_prediction_horizon.gain` to `Counterfactual(relative_gain=...)` to have the arm arrive by the chunk's end.
    """
    if not 1 <= action_horizon <= prediction_horizon:
        raise SettingError(
            "the action horizon does not fit the prediction horizon",
            field="action_horizon",
            found=action_horizon,
            expected=f"1 to {prediction_horizon}",
        )
    horizons = (action_horizon, prediction_horizon)
    moments, windows = np.zeros((2, 3)), 0
    for demo in demos:
        _require_increments(demo)
        starts = np.flatnonzero(demo.eligible_steps(prediction_horizon))
        moments += np.stack([_moments(demo, starts, steps) for steps in horizons])
        windows += len(starts)
    if windows == 0:
        raise DataError(
            "no chunk to estimate the gain from",
            field="grasp",
            expected=f"demonstrations with a known grasp, {prediction_horizon} steps or more after their start",
            fix="annotate the grasps first, or choose a shorter prediction horizon",
        )
    at_action, at_prediction = (_fit(row, steps, windows) for row, steps in zip(moments, horizons, strict=True))
    return RelativeGain(at_action, at_prediction, windows)


def _moments(demo: Demo, starts: Int[Array, " windows"], steps: int) -> Float[Array, " 3"]:
    """`sum x.x`, `sum x.y` and `sum y.y` over the windows of one demonstration."""
    commanded_m = np.zeros((len(demo) + 1, 3))
    np.cumsum(demo.actions[:, :3] * demo.action_spec.position_scale_m, axis=0, out=commanded_m[1:])
    x = commanded_m[starts + steps] - commanded_m[starts]
    y = demo.eef_position[starts + steps] - demo.eef_position[starts]
    return np.array([np.vdot(x, x), np.vdot(x, y), np.vdot(y, y)])


def _fit(moments: Float[Array, " 3"], steps: int, windows: int) -> GainFit:
    xx, xy, yy = (float(moment) for moment in moments)
    if xy <= 0:
        raise DataError(
            "the hand does not follow its commands, so that they have no gain",
            field="actions",
            found=f"sum x.y = {xy:.3g} m^2, sum x.x = {xx:.3g} m^2 over {windows} chunks of {steps} steps",
            expected="a hand that moves where its increments point",
            fix="check the action spec (its kind, frame and position scale) with --action-spec",
        )
    gain = xy / xx
    return GainFit(steps, gain, residual_m=(max(yy - gain * xy, 0.0) / windows) ** 0.5)


def _require_increments(demo: Demo) -> None:
    spec = demo.action_spec
    if spec.kind != "relative":
        raise DataError(
            "absolute actions have no gain: they say where the hand goes, whatever it realised before",
            demo=demo.name,
            field="ActionSpec.kind",
            found=repr(spec.kind),
            expected="'relative'",
        )
    if spec.frame == "tool":
        raise DataError(
            "increments in the tool's own frame do not add up to a displacement",
            demo=demo.name,
            field="ActionSpec.frame",
            found="'tool'",
            expected="'base' or 'world'",
            fix="convert the dataset to absolute actions",
        )
