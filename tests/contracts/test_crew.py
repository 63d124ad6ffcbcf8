"""The contract of crews rejects those that break it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from contracts.crew import check_crew
from sido.jobs import Crew, Here


def test_here():
    check_crew(Here())


class Changed:
    """Does as `Here`, but for what a function does to the results."""

    hands = 1

    def __init__(self, change: Callable[[Iterator[Any]], Iterator[Any]]) -> None:
        self.change = change

    def run(self, prepare: Any, jobs: Iterator[Any]) -> Any:
        yield from self.change(Here().run(prepare, jobs))


class Hasty:
    """Takes all jobs before it does any."""

    hands = 1

    def run(self, prepare: Any, jobs: Iterator[Any]) -> Any:
        taken = [next(jobs, None) for _ in range(40)]
        yield from Here().run(prepare, iter([job for job in taken if job is not None]))


class Careless:
    """Prepares for every job."""

    hands = 1

    def run(self, prepare: Any, jobs: Iterator[Any]) -> Any:
        for number, job in enumerate(job for job in jobs if job is not None):
            yield number, prepare()(job)


def twice(results: Iterator[Any]) -> Iterator[Any]:
    for result in results:
        yield result
        yield result


def shifted(results: Iterator[Any]) -> Iterator[Any]:
    for number, result in results:
        yield number + 1, result


def without_the_last(results: Iterator[Any]) -> Iterator[Any]:
    yield from list(results)[:-1]


@pytest.mark.parametrize(
    "broken",
    [Changed(twice), Changed(shifted), Changed(without_the_last), Hasty(), Careless()],
    ids=["doubles", "shifts", "loses the last", "hasty", "careless"],
)
def test_broken_ones_are_rejected(broken: Crew):
    with pytest.raises((AssertionError, pytest.fail.Exception, RuntimeError)):
        check_crew(broken)
