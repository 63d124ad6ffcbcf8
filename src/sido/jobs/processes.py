"""Jobs on processes of this machine."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, final

from sido.errors import SettingError
from sido.jobs.crew import Prepare, Queue
from sido.jobs.outcome import MOST_LOSSES, Bench, Outcome, lost_for_good

__all__ = ["Processes"]

_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "LP_NUM_THREADS")
"""The processes are as many as the processors: libraries that start threads of their own would only be in the way."""


@final
class Processes:
    """`workers` fresh processes, each of which does one job at a time.

    They end with this process, however it ends: each waits for its next job on a pipe that closes then. One that is
    lost is replaced, and its job done again.
    """

    def __init__(self, workers: int) -> None:
        if workers < 1:
            raise SettingError("too few", field="workers", found=workers, expected="1 or more")
        self.hands = workers

    def run(self, prepare: Prepare, jobs: Iterator[Any]) -> Generator[tuple[int, Any]]:
        """As `Crew.run`."""
        queue = Queue(jobs)
        losses: dict[int, int] = {}
        team: list[_Worker] = []
        try:
            while True:
                self._hand_out(queue, team, prepare)
                busy = {worker.connection: worker for worker in team if worker.job is not None}
                if not busy:
                    return
                for connection in wait(list(busy)):
                    worker = busy[connection]  # pyright: ignore[reportArgumentType]
                    assert worker.job is not None
                    (number, job), outcome = worker.job, worker.finish()
                    if outcome is not None:
                        yield number, outcome.value()
                        continue
                    team.remove(worker)
                    losses[number] = losses.get(number, 0) + 1
                    if losses[number] >= MOST_LOSSES:
                        raise lost_for_good(losses[number], "a process", f"exit code {worker.exit_code()}")
                    queue.give_back(number, job)
        finally:
            for worker in team:
                worker.end()

    def _hand_out(self, queue: Queue, team: list[_Worker], prepare: Prepare) -> None:
        """A job for everybody who has none, as far as there are any; new workers where some are missing."""
        while True:
            idle = next((worker for worker in team if worker.job is None), None)
            if idle is None and len(team) == self.hands:
                return
            taken = queue.take(busy=any(worker.job is not None for worker in team))
            if taken is None:
                return
            if idle is None:
                idle = _start(prepare)
                team.append(idle)
            idle.begin(*taken)


@final
@dataclass
class _Worker:
    process: BaseProcess
    connection: Connection[Any, Any]
    job: tuple[int, Any] | None = None
    """The one that it does, and its number."""

    def begin(self, number: int, job: Any) -> None:
        self.job = number, job
        with contextlib.suppress(OSError):  # it is gone: `finish` will find out
            self.connection.send(job)

    def finish(self) -> Outcome | None:
        """What became of its job; None where the process is gone."""
        self.job = None
        try:
            return self.connection.recv()
        except (EOFError, OSError):
            self.connection.close()
            return None

    def exit_code(self) -> int | None:
        self.process.join()
        return self.process.exitcode

    def end(self) -> None:
        self.connection.close()
        self.process.terminate()
        self.process.join()
        self.process.close()


def _start(prepare: Prepare) -> _Worker:
    # Not forked: a fork has the parent's locks and its OpenGL, and neither is of use there.
    context = multiprocessing.get_context("spawn")
    mine, its = context.Pipe()
    process = context.Process(target=_serve, args=(its, prepare), name="sido worker", daemon=True)
    with _one_thread_each():
        process.start()
    its.close()
    return _Worker(process, mine)


@contextlib.contextmanager
def _one_thread_each() -> Generator[None]:
    """Processes that are started meanwhile keep their libraries to one thread, unless the user says otherwise."""
    missing = [name for name in _ONE_THREAD if name not in os.environ]
    os.environ.update(dict.fromkeys(missing, "1"))
    try:
        yield
    finally:
        for name in missing:
            del os.environ[name]


def _serve(connection: Connection[Any, Any], prepare: Prepare) -> None:
    """The life of a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which then ends us
    bench = Bench(prepare)
    while True:
        try:
            connection.send(bench(connection.recv()))
        except (EOFError, OSError):
            return  # the parent is gone
