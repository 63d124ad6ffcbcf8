"""What became of a job, in a form that travels between processes."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

from sido.errors import SidoError
from sido.jobs.crew import Prepare

__all__ = ["MOST_LOSSES", "Bench", "Outcome", "WorkFailedError", "lost_for_good"]

MOST_LOSSES = 3
"""A job whose process was lost so many times is given up: it is probably the job that kills."""


class WorkFailedError(Exception):
    """A job raised something that is no `SidoError`: a mistake in a program. The text is its traceback."""


@final
@dataclass(frozen=True)
class Outcome:
    """A result, or why there is none."""

    result: Any = None
    error: SidoError | None = None
    trace: str = ""

    def value(self) -> Any:
        """The result; raises if there is none."""
        if self.error is not None:
            raise self.error
        if self.trace:
            raise WorkFailedError(f"a job failed in another process\n{self.trace}")
        return self.result


@final
class Bench:
    """Does jobs in this process; prepares for them at the first."""

    def __init__(self, prepare: Prepare) -> None:
        self._prepare = prepare
        self._work: Callable[[Any], Any] | None = None

    def __call__(self, job: Any) -> Outcome:
        try:
            if self._work is None:
                self._work = self._prepare()
            return Outcome(self._work(job))
        except SidoError as error:
            return Outcome(error=_plain(error))
        except Exception:
            return Outcome(trace=traceback.format_exc())


def lost_for_good(losses: int, what: str, found: str) -> SidoError:
    """The error to raise for a job that was lost too often."""
    return SidoError(
        f"{what} that did one and the same job was lost {losses} times",
        found=found,
        fix="look for memory that ran out; with --workers 1 the job is done here, and what it says is seen",
    )


def _plain(error: SidoError) -> SidoError:
    """The same text as the parent class has it: its children need not know how to be pickled."""
    return SidoError(
        error.problem,
        file=error.file,
        demo=error.demo,
        field=error.field,
        found=error.found,
        expected=error.expected,
        fix=error.fix,
    )
