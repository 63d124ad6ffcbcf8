"""Commands that follow an object which moved on since they were planned."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Protocol, final, runtime_checkable

from jaxtyping import Float

from sido.arrays import Array
from sido.errors import SettingError
from sido.predict import FiniteDifference, History, Predictor

__all__ = ["OSC_LAG_S", "ActionCompensation", "Correction", "VelocityFeedForward"]

OSC_LAG_S = 2.0 / math.sqrt(150.0) + 0.025
"""How far the hand is behind a goal that moves: robosuite's controller, kp 150, critically damped, and half a control
step for which the goal stands still."""


@runtime_checkable
class Correction(Protocol):
    """By how much the commands of a chunk are shifted, anew at every step.

    It is asked while the object is being reached and the fingers close. From the moment it is held, the last shift
    stays for the rest of the chunk: the object moves with the hand then, and following it would be running after
    oneself.
    """

    @property
    def observations(self) -> int:
        """How many of the object's last positions it looks at."""
        ...

    def shift_m(self, history: History, planned: Float[Array, "N 3"]) -> Float[Array, "N 3"]:
        """For each session.

        Args:
            history: What is known of the objects now.
            planned: Where each was last seen when the chunk was planned.
        """
        ...


@final
@dataclass(frozen=True)
class ActionCompensation:
    """By as much as the object has moved since the chunk was planned: the paper's AC."""

    @property
    def observations(self) -> int:
        return 1

    def shift_m(self, history: History, planned: Float[Array, "N 3"]) -> Float[Array, "N 3"]:
        return history.latest - planned


@final
@dataclass(frozen=True)
class VelocityFeedForward:
    """By as much as the object will have moved when the hand arrives: `lead_s` from now.

    The pose's age and the arm's lag are made up for, which `ActionCompensation` leaves. With a predictor that holds,
    the two are the same. A policy whose channel is told the future leads by itself, and would lead twice: give it the
    present (`Hold`).
    """

    predictor: Predictor = field(default_factory=FiniteDifference)
    lead_s: float = OSC_LAG_S

    def __post_init__(self) -> None:
        if not (math.isfinite(self.lead_s) and self.lead_s >= 0.0):
            raise SettingError(
                "not usable", field="VelocityFeedForward.lead_s", found=self.lead_s, expected="seconds, 0 or more"
            )

    @property
    def observations(self) -> int:
        return self.predictor.observations

    def shift_m(self, history: History, planned: Float[Array, "N 3"]) -> Float[Array, "N 3"]:
        return self.predictor(history, self.lead_s).positions - planned
