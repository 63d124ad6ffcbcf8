"""Processes do as one process does, also when they are killed; and they do not outlive their parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import works
from contracts.crew import check_crew
from sido.errors import SettingError, SidoError
from sido.jobs import Processes

CHILDREN = """
import sys, works
from sido.jobs import Processes
run = Processes(2).run(works.Prepare(works.slow), iter(range(1000)))
for _ in range(3):
    print(next(run)[1][0], flush=True)
input()
"""


def test_they_keep_the_contract():
    check_crew(Processes(2))


def test_a_killed_one_is_replaced_and_its_job_done_again(tmp_path: Path):
    results = list(Processes(2).run(works.Prepare(works.Killer(tmp_path)), iter(range(8))))
    assert sorted(number for number, _ in results) == list(range(8)), "nothing lost, nothing doubled"
    assert all(number == result for number, (_pid, _identity, result) in results)
    assert len({pid for _number, (pid, *_rest) in results}) >= 2
    assert sorted(mark.name for mark in tmp_path.iterdir()) == ["2-0", "5-0"]


def test_a_job_that_always_kills_is_given_up(tmp_path: Path):
    with pytest.raises(SidoError, match=r"one and the same job was lost 3 times; found exit code -9"):
        list(Processes(2).run(works.Prepare(works.Killer(tmp_path, times=9)), iter(range(8))))


def test_there_must_be_one():
    with pytest.raises(SettingError, match="workers: too few; found 0"):
        Processes(0)


def test_they_use_one_thread_each_and_leave_this_process_alone(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setenv("MKL_NUM_THREADS", "3")
    names = ["OMP_NUM_THREADS", "MKL_NUM_THREADS"]
    (told,) = [result for _number, (*_who, result) in Processes(1).run(works.Prepare(works.environment), iter([names]))]
    assert told == ["1", "3"]
    assert "OMP_NUM_THREADS" not in os.environ


def test_they_end_when_their_parent_is_killed(tmp_path: Path):
    environment = os.environ | {"PYTHONPATH": str(Path(works.__file__).parent)}
    script = tmp_path / "parent.py"
    script.write_text(f"if __name__ == '__main__':\n{CHILDREN.strip()}".replace("\n", "\n    "))
    with subprocess.Popen(
        [sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as parent:
        assert parent.stdout is not None
        children = {int(parent.stdout.readline()) for _ in range(3)}
        assert len(children) == 2
        assert all(map(alive, children))
        parent.send_signal(signal.SIGKILL)
        parent.wait()
        until = time.monotonic() + 20
        while any(map(alive, children)) and time.monotonic() < until:
            time.sleep(0.05)
    assert not any(map(alive, children))


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
