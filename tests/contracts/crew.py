"""What every crew must satisfy: each job is done once, whoever does it, and what goes wrong is told."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import works
from sido.errors import SidoError
from sido.jobs import Crew, in_order


def check_crew(crew: Crew) -> None:
    """All of it."""
    assert isinstance(crew, Crew)
    assert crew.hands >= 1
    every_job_is_done_once(crew)
    arrays_come_back_to_the_bit(crew)
    jobs_may_wait_for_results(crew)
    endless_jobs_can_be_left(crew)
    errors_come_back(crew)


def every_job_is_done_once(crew: Crew) -> None:
    results = dict(pairs := list(crew.run(works.Prepare(works.unequal), iter(range(20)))))
    assert len(pairs) == len(results), "a job was told twice"
    assert {number: result for number, (_pid, _identity, result) in results.items()} == {k: k for k in range(20)}
    prepared = {(pid, identity) for pid, identity, _result in results.values()}
    assert len(prepared) == len({pid for pid, _ in prepared}), "prepared more than once in a process"
    ordered = in_order(crew.run(works.Prepare(works.unequal), iter(range(7))))
    assert [result for _pid, _identity, result in ordered] == list(range(7))
    assert list(crew.run(works.Prepare(works.unequal), iter(()))) == []


def arrays_come_back_to_the_bit(crew: Crew) -> None:
    for number, (_pid, _identity, array) in crew.run(works.Prepare(works.noise), iter(range(3))):
        np.testing.assert_array_equal(array, works.noise(number))


def jobs_may_wait_for_results(crew: Crew) -> None:
    known: list[int] = []

    def jobs() -> Iterator[int | None]:
        for number in range(6):
            while len(known) < number - 1:
                yield None
            yield number

    for number, _result in crew.run(works.Prepare(works.unequal), jobs()):
        known.append(number)
    assert sorted(known) == list(range(6))
    with pytest.raises(RuntimeError, match="wait for a result"):
        list(crew.run(works.Prepare(works.unequal), iter([None])))


def endless_jobs_can_be_left(crew: Crew) -> None:
    run = crew.run(works.Prepare(works.unequal), itertools.count())
    assert {next(run)[0] for _ in range(4)} <= set(range(4 + crew.hands + 2))
    run.close()


def errors_come_back(crew: Crew) -> None:
    text = "x.hdf5: not good; found 3; expected another; to mend it: take another"
    assert complaint(crew, works.Prepare(works.complain), [1, 3]) == text
    assert "pip install 'sido[those]'" in complaint(crew, works.Prepare(works.complain), [4])
    assert complaint(crew, works.unprepared, [1]) == "nothing to work with"
    with pytest.raises(Exception, match="by zero") as raised:
        list(crew.run(works.Prepare(works.stumble), iter([3])))
    assert not isinstance(raised.value, SidoError)


def complaint(crew: Crew, prepare: Any, jobs: list[int]) -> str:
    with pytest.raises(SidoError) as raised:
        list(crew.run(prepare, iter(jobs)))
    return str(raised.value)
