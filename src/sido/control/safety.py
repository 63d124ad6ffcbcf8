"""The last look at commands before a robot gets them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Bool, Float

from sido.arrays import Array
from sido.demos.action_spec import ActionSpec
from sido.errors import SettingError, SidoError

__all__ = ["Safety", "UnsafeActionError"]


class UnsafeActionError(SidoError):
    """A policy commanded what must not reach a robot. Stop it."""


@final
@dataclass(frozen=True)
class Safety:
    """What is never sent on: numbers that are not finite; and, if there is one, goals outside of a box.

    Absolute goals are moved to the box's nearest point; an upright box in the base frame, metres.
    """

    low_m: tuple[float, float, float] | None = None
    high_m: tuple[float, float, float] | None = None

    def __post_init__(self) -> None:
        low, high = self.low_m, self.high_m
        if (low is None) != (high is None):
            raise SettingError("a box has two corners", field="Safety.low_m, high_m", found=f"{low}, {high}")
        if low is None or high is None:
            return
        if not (np.isfinite([low, high]).all() and (np.array(low) < np.array(high)).all()):
            raise SettingError(
                "not a box", field="Safety.low_m, high_m", found=f"{low} to {high}", expected="low < high"
            )

    def require(self, spec: ActionSpec) -> None:
        """Raise unless it can judge such actions."""
        if self.low_m is not None and (spec.kind, spec.frame) != ("absolute", "base"):
            raise SettingError(
                "a workspace is a box for absolute goals in the base frame",
                field="Safety.low_m, high_m",
                found=f"{spec.kind} actions, {spec.frame} frame",
                fix="leave the box out, or train on absolute actions",
            )

    def checked(self, actions: Float[Array, "N A"], live: Bool[Array, "N"]) -> Float[Array, "N A"]:
        """The actions that may be sent.

        Raises:
            UnsafeActionError: one is not finite; names the session.
        """
        broken = live & ~np.isfinite(actions).all(axis=1)
        if broken.any():
            i = int(np.argmax(broken))
            raise UnsafeActionError(
                f"the policy's action in session {i} is not finite", field=f"actions[{i}]", found=actions[i].tolist()
            )
        if self.low_m is None:
            return actions
        safe = actions.copy()
        safe[live, :3] = np.clip(actions[live, :3], self.low_m, self.high_m)
        return safe
