"""Jobs on a Ray cluster."""

from __future__ import annotations

import importlib
import logging
import os
import pickle
import socket
import warnings
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any, final

from sido.errors import MissingExtraError, SettingError
from sido.jobs.crew import Prepare, Queue
from sido.jobs.outcome import MOST_LOSSES, Bench, Outcome, WorkFailedError, lost_for_good

__all__ = ["RayCluster"]

_PATIENCE_S = 10.0
_SPARE = 2
"""Jobs that wait on the cluster beside those that are being done, so that nobody waits for the next one."""


@final
class RayCluster:
    """Each job is a Ray task of one processor. sido, of the same version, must be installed on every node.

    Ray's own retries are off: a job whose worker, node or result is lost is sent out again from here, and counted.

    Args:
        address: As `ray.init` takes it: "auto", "head:6379", "ray://head:10001".
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self._ray = _import_ray()

    @property
    def hands(self) -> int:
        """The cluster's processors, of those nodes that are alive."""
        with _connected(self._ray, self.address):
            return _processors(self._ray)

    def run(self, prepare: Prepare, jobs: Iterator[Any]) -> Generator[tuple[int, Any]]:
        """As `Crew.run`."""
        ray = self._ray
        queue = Queue(jobs)
        losses: dict[int, int] = {}
        running: dict[Any, tuple[int, Any]] = {}
        with _connected(ray, self.address):
            # Made here and not when imported: Ray's decorator starts things.
            task = ray.remote(num_cpus=1, max_retries=0)(do_job)
            recipe = pickle.dumps(prepare)
            try:
                while True:
                    while len(running) < _processors(ray) + _SPARE:
                        taken = queue.take(busy=bool(running))
                        if taken is None:
                            break
                        running[task.remote(recipe, taken[1])] = taken
                    if not running:
                        return
                    (finished,), _ = ray.wait(list(running), num_returns=1)
                    number, job = running.pop(finished)
                    outcome = _outcome(ray, finished)
                    if isinstance(outcome, Outcome):
                        yield number, outcome.value()
                        continue
                    losses[number] = losses.get(number, 0) + 1
                    if losses[number] >= MOST_LOSSES:
                        raise lost_for_good(losses[number], "a node or worker", outcome)
                    queue.give_back(number, job)
            finally:
                for reference in running:
                    ray.cancel(reference, force=True)


_benches: dict[bytes, Bench] = {}
"""In a worker of the cluster: what it has prepared. Of the latest kind of job only, since worlds are large."""


def do_job(recipe: bytes, job: Any) -> Outcome:
    """What runs on the cluster."""
    if recipe not in _benches:
        _benches.clear()
        _benches[recipe] = Bench(pickle.loads(recipe))  # from the driver's memory, through Ray: no file
    return _benches[recipe](job)


def _outcome(ray: Any, reference: Any) -> Outcome | str:
    """What became of a job; in words, if it was lost on the way."""
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:  # it did not even begin: sido is missing there, say
        raise WorkFailedError(f"a job failed on the Ray cluster\n{error}") from None
    except ray.exceptions.RayError as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0]}"


def _processors(ray: Any) -> int:
    return max(1, int(ray.cluster_resources().get("CPU", 1)))


@contextmanager
def _connected(ray: Any, address: str) -> Generator[None]:
    """Connected to the cluster, and quietly; a connection that was there before stays."""
    if ray.is_initialized():
        yield
        return
    # Ray would otherwise warn, on every start, of a change to come.
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            _knock(address)
            ray.init(address=address, log_to_driver=False, logging_level=logging.CRITICAL)
        except (OSError, ValueError, RuntimeError, ray.exceptions.RayError) as error:
            raise SettingError(
                "cannot connect to a Ray cluster",
                field="--ray",
                found=f"{address!r}: {error}",
                expected="the address of its head node, such as head:6379, or auto on a machine of the cluster",
                fix="start it with `ray start --head`, and see `ray status`",
            ) from error
    try:
        with _muted():
            yield
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ray.shutdown()


def _knock(address: str) -> None:
    """Raise at once where nobody answers: Ray itself would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdecimal():
        with socket.create_connection((host, int(port)), timeout=_PATIENCE_S):
            pass


@contextmanager
def _muted() -> Generator[None]:
    """Keep the cluster's reports (a raylet's last words, when its node is lost) off the user's screen.

    Ray prints them, `log_to_driver` or not, and has no setting against it. What matters of them comes as an error.
    """
    worker: Any = importlib.import_module("ray._private.worker")
    loud = worker.print_to_stdstream
    worker.print_to_stdstream = _say_nothing
    try:
        yield
    finally:
        worker.print_to_stdstream = loud


def _say_nothing(*_args: object, **_options: object) -> None:
    pass


def _import_ray() -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module("ray")
    except ImportError as error:
        raise MissingExtraError("running on a cluster", "ray", "ray") from error
