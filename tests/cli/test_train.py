"""`sido train` and `sido policy`, as a person meets them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sido.cli.main import main

SMALL = ["--steps", "4", "--batch-size", "8", "--log-every", "1", "--save-every", "2"]


@pytest.fixture
def stack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SIDO_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    assert main(["synthesize", "stack.hdf5", "--demos", "4", "--image-size", "16"]) == 0
    return tmp_path / "stack.hdf5"


def said_by(capsys: pytest.CaptureFixture[str]) -> str:
    return " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(("preset", "obs"), [("dp-sido", "state"), ("dp", "image"), ("equidp-sido", "state")])
def test_train_then_ask_what_it_is(stack: Path, preset: str, obs: str, capsys: pytest.CaptureFixture[str]):
    assert main(["train", preset, "--data", str(stack), "--obs", obs, "--seed", "3", *SMALL]) == 0
    run = f"runs/{preset}-{obs}-cpu-3"
    assert f"next sido policy info {run}" in said_by(capsys)
    assert main(["policy", "info", run, "--repeats", "2"]) == 0
    said = said_by(capsys)
    assert "chunks of 16 actions of 7 numbers" in said
    assert ("agentview 16x16" in said) == (obs == "image")
    assert ("where the object will be" in said) == preset.endswith("sido")
    assert main(["policy", "info", run, "--repeats", "2", "--batch", "3", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["parameters"]["all"] > 1000
    assert document["action_spec"]["kind"] == "absolute"
    assert 0 < document["sampling"]["median_ms"] <= document["sampling"]["p99_ms"]


def test_what_is_changed_is_in_the_config(stack: Path, capsys: pytest.CaptureFixture[str]):
    capsys.readouterr()
    changes = ["--step-speed-m", "0.003", "--vary-length", "--offset-features", "False", "--learning-rate", "0.01",
               "--observation-steps", "1", "--demos", "3"]  # fmt: skip
    assert main(["train", "dp-sido", "--data", str(stack), *SMALL, *changes, "--print-config"]) == 0
    config = json.loads(capsys.readouterr().out)
    assert config["augmentation"]["step_speed_m"] == 0.003
    assert config["augmentation"]["length"] == {"kind": "uniform"}
    assert config["reach_m"] == pytest.approx(0.048)
    assert config["policy"]["observation"]["offset_features"] is False
    assert config["policy"]["observation"]["observation_steps"] == 1
    assert config["optimiser"]["learning_rate"] == 0.01
    assert config["duration"] == {"kind": "steps", "count": 4}
    assert config["data"]["demos"] == 3


@pytest.mark.usefixtures("as_user")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["dp"], "what is to be trained?; found dp, no dataset"),
        (["act", "--data", "stack.hdf5"], "unknown preset; found 'act'"),
        (["dp", "--data", "none.hdf5"], "none.hdf5"),
        (["dp", "--data", "stack.hdf5", "--vary-length"], "--vary-length: this preset has no counterfactuals"),
        (["dp", "--data", "stack.hdf5", "--device", "tpu"], "--device: unknown device; found tpu"),
        (["dp", "--data", "stack.hdf5", "--cameras", "agentview"], "a policy from state has no cameras"),
        (["dp", "--data", "stack.hdf5", "--obs", "image", "--cameras", "birdview"], "birdview"),
        (["--resume", "runs/none"], "not a run; found no such folder"),
        (["--resume", "runs/none", "--steps", "3"], "--resume: a run goes on as it began"),
        (["--config", "none.json"], "--config: no such file"),
    ],
)
def test_train_refuses(stack: Path, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]):
    assert main(["train", *arguments]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1


def test_policy_info_refuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["policy", "info", str(tmp_path / "none")]) == 2
    assert "no policy here; found no such folder" in capsys.readouterr().err
    assert main(["policy", "info", str(tmp_path), "--batch", "0"]) == 2
    assert "--batch: too small" in capsys.readouterr().err


def test_ctrl_c_saves_the_run(stack: Path, capsys: pytest.CaptureFixture[str]):
    """A real process, interrupted; then it goes on to the end."""
    command = [sys.executable, "-m", "sido.cli.main", "train", "dp-sido", "--data", str(stack), "-o", "run"]
    command += ["--steps", "3000", "--batch-size", "8", "--log-every", "1", "--save-every", "100000"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ)
    while not Path("run/metrics.jsonl").exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    told, said = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "SIGINT: saving the run, then stopping" in said
    assert "sido train --resume run" in told
    step = json.loads(Path("run/checkpoint/last/training.json").read_text())["step"]
    assert 0 < step < 3000
    config = json.loads(Path("run/config.json").read_text())
    config["duration"]["count"] = step + 2
    Path("run/config.json").write_text(json.dumps(config))
    assert main(["train", "--resume", "run"]) == 0


@pytest.mark.usefixtures("as_user")
def test_rollouts_during_training(stack: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["train", "dp-sido", "--data", str(stack), "-o", "run", *SMALL, "--rollouts", "1"]) == 0
    last = json.loads(Path("run/metrics.jsonl").read_text().splitlines()[-1])
    assert last["step"] == 4
    assert last["rollouts.success"] in (0.0, 1.0)
    assert main(["train", "dp", "--data", str(stack), "--rollouts", "1", "--rollouts-task", "juggle"]) == 2
    assert "unknown task; found 'juggle'" in capsys.readouterr().err
