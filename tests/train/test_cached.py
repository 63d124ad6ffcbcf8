"""Training on chunks that were generated beforehand."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

import sido.augment
from sido.augment import CachedCounterfactual, FitSettings
from sido.augment.dynamics.fit import fit_dynamics
from sido.cli.main import main
from sido.errors import DataError, SettingError
from sido.train import TrainConfig, resume, train
from train.conftest import tiny

QUICK = FitSettings(one_step_updates=20, rollout_updates=2, width=8)


@pytest.fixture(autouse=True)
def quick_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        sido.augment,
        "fit_dynamics",
        lambda motions, spec, settings, progress: fit_dynamics(motions, spec, QUICK, progress),
    )


@pytest.fixture
def cache(stack: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "stack.cache"
    assert main(["augment", str(stack), "--generator", "gauss-newton", "-o", str(folder)]) == 0
    return folder


def cached(stack: Path, cache: Path, **changes) -> TrainConfig:
    augmentation = CachedCounterfactual.of(cache)
    return tiny(stack, augmentation=augmentation, reach_m=augmentation.longest_m, **changes)


def weights(folder: Path) -> bytes:
    (file,) = (
        sorted((folder / "checkpoint" / "last").glob("policy*.safetensors"))
        or sorted((folder / "checkpoint" / "last").glob("*.safetensors"))[:1]
    )
    return file.read_bytes()


def test_a_run_from_a_cache_learns_and_goes_on_as_if_never_stopped(stack: Path, cache: Path, tmp_path: Path):
    config = cached(stack, cache)
    assert TrainConfig.from_json(config.to_json()) == config
    whole = train(config, tmp_path / "whole")
    assert whole.ended
    asked = iter([False] * 4 + [True] * 100)
    assert not train(config, tmp_path / "stopped", stop=lambda: next(asked)).ended
    assert resume(tmp_path / "stopped").ended
    assert weights(tmp_path / "stopped") == weights(tmp_path / "whole")
    train(tiny(stack, reach_m=config.reach_m), tmp_path / "fly")
    assert weights(tmp_path / "fly") != weights(tmp_path / "whole")


def test_the_normaliser_must_reach_as_far_as_the_chunks(stack: Path, cache: Path):
    augmentation = CachedCounterfactual.of(cache)
    assert augmentation.longest_m > 0.016
    with pytest.raises(SettingError, match="reach_m"):
        tiny(stack, augmentation=augmentation)


def test_other_data_are_refused(stack: Path, cache: Path, tmp_path: Path):
    config = cached(stack, cache)
    recorded = dataclasses.replace(config, data=dataclasses.replace(config.data, actions="as-recorded"))
    with pytest.raises(DataError, match="cache"):
        train(recorded, tmp_path / "run")


def test_the_command_generates_and_trains(
    stack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    arguments = ["train", "dp-sido", "--data", str(stack), "--generator", "mppi", "--steps", "2", "-o", "run"]
    assert main(arguments) == 0
    config = TrainConfig.from_json((tmp_path / "run" / "config.json").read_bytes())
    assert isinstance(config.augmentation, CachedCounterfactual)
    assert config.reach_m == config.augmentation.longest_m
    assert (tmp_path / "stack.mppi.cache" / "done.u8").is_file()
    assert "by mppi;" in capsys.readouterr().out
    assert main(["train", "dp", "--data", str(stack), "--generator", "mppi", "-o", "other"]) == 2
    assert "this preset has no counterfactuals" in capsys.readouterr().err


def test_the_command_goes_on_and_refuses_other_settings(stack: Path, cache: Path, capsys: pytest.CaptureFixture[str]):
    before = {file.name: file.read_bytes() for file in cache.iterdir() if file.is_file()}
    arguments = ["augment", str(stack), "--generator", "gauss-newton", "-o", str(cache)]
    assert main(arguments) == 0
    assert "went on with" in capsys.readouterr().out
    assert {file.name: file.read_bytes() for file in cache.iterdir() if file.is_file()} == before
    assert main([*arguments, "--displacements", "2"]) == 2
    assert "generated from something else" in capsys.readouterr().err
