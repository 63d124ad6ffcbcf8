"""A run that was interrupted, however, comes to the same as one that was not: to the last bit."""

from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sido.errors import SidoError
from sido.train import Steps, TrainConfig, resume, train
from train.conftest import tiny

KEPT = ("policy.safetensors", "policy.json", "training.safetensors", "training.json")


def require_same_run(one: Path, other: Path) -> None:
    for name in KEPT:
        same = (one / "checkpoint/last" / name).read_bytes() == (other / "checkpoint/last" / name).read_bytes()
        assert same, name
    for name in ("metrics.jsonl", "data.json", "config.json"):
        assert (one / name).read_text() == (other / name).read_text(), name
    best = "checkpoint/best/policy.safetensors"
    assert (one / best).read_bytes() == (other / best).read_bytes()


def stopped_after(steps: int):
    """Asks to stop after so many updates."""
    asked = [0]

    def stop() -> bool:
        asked[0] += 1
        return asked[0] >= steps

    return stop


@pytest.mark.parametrize("images", [False, True])
@pytest.mark.parametrize("loaders", [0, 2])
def test_stopped_and_resumed_is_never_stopped(stack: Path, filmed: Path, tmp_path: Path, images: bool, loaders: int):
    config = tiny(filmed if images else stack, images=images, loaders=loaders)
    whole = train(config, tmp_path / "whole")
    assert whole.ended
    first = train(config, tmp_path / "parts", stop=stopped_after(3))
    assert (first.step, first.ended) == (3, False)
    second = resume(tmp_path / "parts", stop=stopped_after(2))
    assert (second.step, second.ended) == (5, False)
    assert resume(tmp_path / "parts") == whole._replace(folder=tmp_path / "parts")
    require_same_run(tmp_path / "whole", tmp_path / "parts")
    assert resume(tmp_path / "parts").ended, "a run that has ended stays as it is"
    require_same_run(tmp_path / "whole", tmp_path / "parts")


@pytest.mark.usefixtures("as_user")
def test_killed_and_resumed_is_never_killed(stack: Path, tmp_path: Path):
    """SIGKILL, to a real process, at some moment after its second checkpoint; then again."""
    config = tiny(stack, duration=Steps(200), save_every=5, validate_every=7)
    (tmp_path / "config.json").write_text(config.to_json())
    train(config, tmp_path / "whole")
    folder = tmp_path / "killed"
    begin = [sys.executable, str(Path(__file__).with_name("kill_me.py")), str(tmp_path / "config.json"), str(folder)]
    process = subprocess.Popen(begin, env={**os.environ, "OMP_NUM_THREADS": "1"})
    while not (folder / "checkpoint/last").exists():
        assert process.poll() is None
        time.sleep(0.001)
    time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    assert process.wait(60) == -signal.SIGKILL, "it was killed before its end"
    resume(folder)
    require_same_run(tmp_path / "whole", folder)


def test_a_kill_between_the_two_renames_of_a_checkpoint(stack: Path, tmp_path: Path):
    """The old checkpoint was put aside and the new one is not there yet; a half-written metric, a half-built folder."""
    config = tiny(stack)
    train(config, tmp_path / "whole")
    folder = tmp_path / "killed"
    train(config, folder, stop=stopped_after(8))
    checkpoint = folder / "checkpoint"
    (checkpoint / "last").rename(checkpoint / ".replaced-0123abcd-last")
    (checkpoint / ".partial-0123abcd-last").mkdir()
    (checkpoint / ".partial-0123abcd-last/policy.json").write_text("{")
    with (folder / "metrics.jsonl").open("a") as file:
        file.write('{"step": 9, "loss": 0.1}\n{"step": 10, "lo')
    resume(folder)
    require_same_run(tmp_path / "whole", folder)
    assert sorted(path.name for path in checkpoint.iterdir()) == ["best", "last"]


def test_another_seed_is_another_run(stack: Path, tmp_path: Path):
    train(tiny(stack), tmp_path / "one")
    train(tiny(stack, seed=1), tmp_path / "other")
    with pytest.raises(AssertionError, match=r"policy\.safetensors"):
        require_same_run(tmp_path / "one", tmp_path / "other")


def test_a_run_keeps_to_its_data(stack: Path, filmed: Path, tmp_path: Path):
    config = tiny(stack)
    train(config, tmp_path / "run", stop=stopped_after(2))
    other = dataclasses.replace(config, data=dataclasses.replace(config.data, demos=11))
    (tmp_path / "run/config.json").write_text(other.to_json())
    with pytest.raises(SidoError, match="the data are not those that the run was begun with"):
        resume(tmp_path / "run")


def test_one_process_at_a_time(stack: Path, tmp_path: Path):
    said = []

    def meddle(_standing) -> None:
        with pytest.raises(SidoError, match="another process is training this run") as error:
            resume(tmp_path / "run")
        said.append(str(error.value))

    train(tiny(stack, duration=Steps(1)), tmp_path / "run", progress=meddle)
    assert said


def test_a_folder_that_exists_is_left_alone(stack: Path, tmp_path: Path):
    train(tiny(stack, duration=Steps(1)), tmp_path / "run")
    with pytest.raises(SidoError, match=r"there is a run already; to mend it: go on with it: sido train --resume"):
        train(tiny(stack), tmp_path / "run")
    (tmp_path / "photos").mkdir()
    with pytest.raises(SidoError, match="already exists; to mend it: choose another folder"):
        train(tiny(stack), tmp_path / "photos")
    with pytest.raises(SidoError, match=r"not a run; found no config.json in it"):
        resume(tmp_path / "photos")
    with pytest.raises(SidoError, match="not a run; found no such folder"):
        resume(tmp_path / "nowhere")


def test_the_config_is_the_run(stack: Path, filmed: Path):
    for config in (tiny(stack), tiny(filmed, images=True, augmentation=None)):
        assert TrainConfig.from_json(config.to_json()) == config
