"""Two processes that train together do what one does alone, on the same batches."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from sido.errors import SettingError
from sido.train import Team, read_metrics, train
from train.conftest import tiny

TOGETHER = """
import sys
from pathlib import Path
import torch
from sido.train import TrainConfig, joined_team, train
with joined_team(torch.device("cpu")) as team:
    train(TrainConfig.from_json(Path(sys.argv[1]).read_bytes()), Path(sys.argv[2]), team=team)
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_two_processes_are_one(stack: Path, tmp_path: Path):
    config = tiny(stack)
    (tmp_path / "config.json").write_text(config.to_json())
    train(config, tmp_path / "alone")
    port = str(free_port())
    team = [
        subprocess.Popen(
            [sys.executable, "-c", TOGETHER, str(tmp_path / "config.json"), str(tmp_path / "together")],
            env={**os.environ, "RANK": str(rank), "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port,
                 "OMP_NUM_THREADS": "1"},
        )
        for rank in range(2)
    ]  # fmt: skip
    assert [process.wait(120) for process in team] == [0, 0]
    alone, together = (read_metrics(tmp_path / name / "metrics.jsonl") for name in ("alone", "together"))
    assert [line["step"] for line in alone] == [line["step"] for line in together]
    for one, other in zip(alone, together, strict=True):
        assert other == pytest.approx(one, rel=1e-6)
    weights, theirs = (
        load_file(tmp_path / name / "checkpoint/last/policy.safetensors") for name in ("alone", "together")
    )
    for name, tensor in weights.items():
        torch.testing.assert_close(theirs[name], tensor, rtol=1e-5, atol=1e-7)


def test_parts_are_shared_out():
    assert [list(Team(rank, 3).share(6)) for rank in range(3)] == [[0, 1], [2, 3], [4, 5]]
    with pytest.raises(
        SettingError, match="cannot be shared out among the processes; found 4; expected a multiple of 3"
    ):
        Team(0, 3).share(4)
