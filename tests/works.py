"""Work for the tests of `sido.jobs`, in a module that other processes can import."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sido.errors import DataError, MissingExtraError


class Prepared:
    """Says which process did a job, and which preparation."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.identity = os.urandom(8).hex()
        self.function = function

    def __call__(self, job: Any) -> tuple[int, str, Any]:
        return os.getpid(), self.identity, self.function(job)


@dataclass(frozen=True)
class Prepare:
    """Makes work of a function of this module."""

    function: Callable[[Any], Any]
    setting: str = ""

    def __call__(self) -> Prepared:
        return Prepared(self.function)


def noise(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((50, 7))


def unequal(number: int) -> int:
    """Later jobs are done sooner."""
    time.sleep(0.05 * (number % 3 == 0))
    return number


def slow(number: int) -> int:
    time.sleep(0.2)
    return number


def complain(number: int) -> int:
    if number == 3:
        raise DataError("not good", file="x.hdf5", found=3, expected="another", fix="take another")
    if number == 4:
        raise MissingExtraError("this", "that", "those")  # takes other arguments than it keeps
    return number


def stumble(number: int) -> int:
    return 1 // (3 - number)


@dataclass(frozen=True)
class Killer:
    """A job that kills its process, so many times."""

    marks: Path
    times: int = 1
    victims: tuple[int, ...] = field(default=(2, 5))

    def __call__(self, number: int) -> int:
        for k in range(self.times):
            mark = self.marks / f"{number}-{k}"
            if number in self.victims and not mark.exists():
                mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)
        return number


def unprepared() -> Callable[[Any], Any]:
    raise DataError("nothing to work with")


def environment(names: list[str]) -> list[str | None]:
    return [os.environ.get(name) for name in names]


def slow_on_node(number: int) -> tuple[str, int]:
    """Says which node of a Ray cluster it is done on."""
    import ray

    time.sleep(0.3)
    return ray.get_runtime_context().get_node_id(), number
