"""The contract of those who do jobs; and the simplest: this process."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any, Protocol, TypeVar, final, runtime_checkable

__all__ = ["Crew", "Here", "Prepare", "Queue", "in_order"]

Result = TypeVar("Result")

Prepare = Callable[[], Callable[[Any], Any]]
"""Makes what does jobs, once in each process: a world is built once, and many episodes are played in it."""


@runtime_checkable
class Crew(Protocol):
    """Does jobs. `tests/contracts/crew.py` holds what every crew must satisfy."""

    @property
    def hands(self) -> int:
        """How many jobs are done at once, as far as is known before they begin."""
        ...

    def run(self, prepare: Prepare, jobs: Iterator[Any]) -> Generator[tuple[int, Any]]:
        """Each job's number, from 0 in the order of `jobs`, and its result, as they are finished.

        A job is taken from `jobs` when there is somebody to do it. One that is None means "none right now": `jobs` is
        asked again after the next result has been taken. Closing the generator drops what is still being done.

        A job whose process or machine is lost is done again elsewhere: jobs have no effects but their results.

        Args:
            prepare: To be pickled, as jobs and results are.
            jobs: May be endless.

        Raises:
            SidoError: what a job raised; or a job's process was lost again and again.
            WorkFailedError: a job raised something else; the text has its traceback. `Here` raises it as it is.
        """
        ...


@final
class Here:
    """This process does one job after the other; what they raise comes as it is."""

    hands = 1

    def run(self, prepare: Prepare, jobs: Iterator[Any]) -> Generator[tuple[int, Any]]:
        """One by one, in order."""
        queue = Queue(jobs)
        work = prepare()
        while (taken := queue.take(busy=False)) is not None:
            number, job = taken
            yield number, work(job)


@final
class Queue:
    """Jobs with their numbers, some of which come back."""

    def __init__(self, jobs: Iterator[Any]) -> None:
        self._jobs = _numbered(jobs)
        self._again: list[tuple[int, Any]] = []

    def give_back(self, number: int, job: Any) -> None:
        """It is to be done again, before any other."""
        self._again.append((number, job))

    def take(self, *, busy: bool) -> tuple[int, Any] | None:
        """The next job and its number; None where there is none now.

        Args:
            busy: Whether a job is being done. Jobs that wait for a result, while there is none to come, are a mistake.
        """
        if self._again:
            return self._again.pop()
        number, job = next(self._jobs, (-1, None))
        if job is None and number >= 0 and not busy:
            raise RuntimeError("the jobs wait for a result, and no job is being done")
        return None if job is None else (number, job)


def _numbered(jobs: Iterator[Any]) -> Iterator[tuple[int, Any]]:
    """Number the jobs, but not the Nones between them."""
    number = 0
    for job in jobs:
        yield number, job
        number += job is not None


def in_order(results: Iterable[tuple[int, Result]]) -> Iterator[Result]:
    """The results in the order of their jobs; those that are finished early are kept until it is their turn."""
    early: dict[int, Result] = {}
    turn = 0
    for number, result in results:
        early[number] = result
        while turn in early:
            yield early.pop(turn)
            turn += 1
