"""Rollouts while training goes on, for whoever has a world to play in: training itself knows of none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import final

from sido.errors import SettingError
from sido.policies import Policy

__all__ = ["Rollouts"]


@final
@dataclass(frozen=True)
class Rollouts:
    """Plays with the averaged weights now and then, and at the end; what it says is written down as measured.

    The weights do not depend on it.
    """

    play: Callable[[Policy], Mapping[str, float]]
    """Named numbers, such as {"success": 0.9}. It must leave the policy as it is."""
    every: int
    """In updates."""

    def __post_init__(self) -> None:
        if self.every < 1:
            raise SettingError("too few", field="Rollouts.every", found=self.every, expected="1 or more updates")

    def due(self, step: int, ended: bool) -> bool:
        """Whether it is time, after `step` updates."""
        return ended or step % self.every == 0
