"""How long a run lasts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, final

from sido.errors import SettingError

__all__ = ["DemoEpochs", "Duration", "Epochs", "Steps"]


@final
@dataclass(frozen=True)
class Steps:
    """So many updates of the weights."""

    kind: ClassVar[str] = "steps"
    count: int

    def __post_init__(self) -> None:
        _require_some("Steps.count", self.count)

    def steps(self, *, transitions: int, demos: int, batch_size: int) -> int:  # noqa: ARG002 - the others need them
        return self.count


@final
@dataclass(frozen=True)
class Epochs:
    """So many passes over the training data."""

    kind: ClassVar[str] = "epochs"
    count: int

    def __post_init__(self) -> None:
        _require_some("Epochs.count", self.count)

    def steps(self, *, transitions: int, demos: int, batch_size: int) -> int:  # noqa: ARG002
        return math.ceil(self.count * transitions / batch_size)


@final
@dataclass(frozen=True)
class DemoEpochs:
    """As many passes as make `count` demonstrations: each of 200 demonstrations is seen `count / 200` times.

    equidiff's way of comparing datasets of different sizes at the same cost.
    """

    kind: ClassVar[str] = "demo_epochs"
    count: int

    def __post_init__(self) -> None:
        _require_some("DemoEpochs.count", self.count)

    def steps(self, *, transitions: int, demos: int, batch_size: int) -> int:
        return math.ceil(self.count / demos * transitions / batch_size)


Duration = Steps | Epochs | DemoEpochs


def _require_some(name: str, count: int) -> None:
    if count < 1:
        raise SettingError("too few", field=name, found=count, expected="1 or more")
