"""A Ray cluster does as one process does, also when one of its nodes dies; and the user's screen stays clean."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import works
from contracts.crew import check_crew
from sido.errors import SettingError, SidoError
from sido.jobs import RayCluster


def test_it_keeps_the_contract_and_gives_up_what_kills(connected: str, tmp_path: Path):
    crew = RayCluster(connected)
    check_crew(crew)
    results = list(crew.run(works.Prepare(works.Killer(tmp_path)), iter(range(8))))
    assert sorted(number for number, _ in results) == list(range(8)), "nothing lost, nothing doubled"
    with pytest.raises(SidoError, match="one and the same job was lost 3 times; found WorkerCrashedError"):
        list(crew.run(works.Prepare(works.Killer(tmp_path, times=9)), iter(range(8))))


def test_a_lost_node_loses_nothing(cluster: Any, capfd: pytest.CaptureFixture[str]):
    crew, done = RayCluster(cluster.address), Counter[int]()
    nodes: set[str] = set()
    for number, (_pid, _identity, (node, result)) in crew.run(works.Prepare(works.slow_on_node), iter(range(24))):
        assert number == result
        done[number] += 1
        nodes.add(node)
        if len(nodes) == 2 and cluster.worker_nodes:
            cluster.remove_node(*cluster.worker_nodes, allow_graceful=False)
            lost_at = len(done)
    assert done == Counter(range(24)), "nothing lost, nothing doubled"
    assert lost_at < 24
    assert crew.hands == 1
    said = capfd.readouterr()
    assert (said.out, said.err) == ("", "")


def test_there_must_be_a_cluster():
    with pytest.raises(SettingError, match=r"cannot connect to a Ray cluster; found '127.0.0.1:9'"):
        RayCluster("127.0.0.1:9").hands  # noqa: B018
