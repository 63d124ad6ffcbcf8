"""Playing while training goes on: it is measured, and changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from sido.errors import SettingError
from sido.policies import ObservationWindow, Policy, load_policy
from sido.train import Rollouts, read_metrics, resume, train
from sido.train.data import read_training_data
from train.conftest import tiny


def test_rollouts_are_measured_and_change_no_weight(stack: Path, tmp_path: Path):
    config = tiny(stack)
    window = ObservationWindow.of(read_training_data(config).train.batch(torch.arange(2)))
    played: list[torch.Tensor] = []

    def play(policy: Policy) -> dict[str, float]:
        played.append(policy.predict(window, torch.Generator().manual_seed(0)))
        return {"success": 0.25}

    train(config, tmp_path / "plain")
    train(config, tmp_path / "played", rollouts=Rollouts(play, 5))
    noted = read_metrics(tmp_path / "played/metrics.jsonl")
    assert [line["step"] for line in noted if "rollouts.success" in line] == [5, 10, 12]
    bare = [{name: value for name, value in line.items() if name != "rollouts.success"} for line in noted]
    assert bare == read_metrics(tmp_path / "plain/metrics.jsonl")
    weights = [(tmp_path / name / "checkpoint/last/policy.safetensors").read_bytes() for name in ("plain", "played")]
    assert weights[0] == weights[1]
    assert not torch.equal(played[0], played[-1]), "it plays with the weights as they are by then"
    kept = load_policy(tmp_path / "played/checkpoint/last").predict(window, torch.Generator().manual_seed(0))
    assert torch.equal(played[-1], kept), "it plays with the averaged weights"
    assert resume(tmp_path / "played", rollouts=Rollouts(play, 5)).ended


def test_too_few():
    with pytest.raises(SettingError, match=r"Rollouts.every: too few; found 0"):
        Rollouts(lambda _policy: {}, 0)
