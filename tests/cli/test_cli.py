"""The command line, as a person meets it."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import h5py
import numpy as np
import pytest

from sido.cli.interruption import interruptible
from sido.cli.main import main
from sido.demos import open_dataset


@pytest.fixture
def stack(tmp_path: Path) -> Path:
    assert main(["synthesize", str(tmp_path / "stack.hdf5"), "--demos", "6", "--image-size", "16"]) == 0
    return tmp_path / "stack.hdf5"


def is_png(path: Path) -> bool:
    return path.read_bytes().startswith(b"\x89PNG") and path.stat().st_size > 5_000


def test_inspect_says_what_is_in_it(stack: Path, capsys: pytest.CaptureFixture[str]):
    picture = stack.with_name("stack.png")
    assert main(["inspect", str(stack), "--plot", str(picture)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    for words in (
        "robomimic HDF5",
        "6 readable, 480 steps",
        "agentview 16x16",
        "relative",
        "subtask signal 'grasp' (6)",
    ):
        assert words in said
    assert is_png(picture)


def test_inspect_as_json(stack: Path, capsys: pytest.CaptureFixture[str]):
    capsys.readouterr()
    assert main(["inspect", str(stack), "--json", "--prediction-horizon", "8"]) == 0
    document = json.loads(capsys.readouterr().out)
    with open_dataset(stack) as dataset:
        assert document["steps"] == sum(dataset.lengths)
        assert [demo["grasp_index"] for demo in document["demos"]] == [demo.grasp.index for demo in dataset]
        assert document["eligible"] == sum(int(demo.eligible_steps(8).sum()) for demo in dataset)
        positions = np.concatenate([demo.eef_position for demo in dataset])
    statistics = document["statistics"]["eef_position"]
    np.testing.assert_allclose(statistics["mean"], positions.mean(0), atol=1e-12)
    np.testing.assert_allclose(statistics["std"], positions.std(0), atol=1e-12)
    np.testing.assert_array_equal(statistics["minimum"], positions.min(0))
    np.testing.assert_array_equal(statistics["maximum"], positions.max(0))


def test_inspect_counts_problems_and_goes_on(stack: Path, capsys: pytest.CaptureFixture[str]):
    with h5py.File(stack, "r+") as file:
        actions = file["data/demo_2/actions"]
        actions[5, 0] = np.nan
    assert main(["inspect", str(stack)]) == 1
    said = capsys.readouterr().out
    assert "5 readable" in said
    assert "problem: " in said
    assert "demo_2" in said


def test_inspect_warns_of_pushed_objects(stack: Path, capsys: pytest.CaptureFixture[str]):
    with h5py.File(stack, "r+") as file:
        file["data/demo_3/obs/object_position"][:, 0] += np.linspace(0, 0.1, 80)
    assert main(["inspect", str(stack)]) == 0
    assert "the object moves more than 5 mm before the grasp in 1 demonstrations (demo_3)" in capsys.readouterr().out


@pytest.mark.parametrize(
    "options", [[], ["--actions", "as-recorded", "--relative-gain", "calibrated"], ["--vary-length"]]
)
def test_augment_draws_and_measures(stack: Path, options: list[str], capsys: pytest.CaptureFixture[str]):
    picture = stack.with_name("counterfactuals.png")
    assert main(["augment", str(stack), "--show", "5", "--out", str(picture), *options]) == 0
    said = capsys.readouterr().out
    assert is_png(picture)
    assert "largest change of the hand-object offset" in said
    assert ("saturate the controller" in said) == ("as-recorded" in options)
    assert ("gain: the arm realises 0.250 after 8 steps" in said) == ("calibrated" in options)


def test_augment_shows_the_same_for_a_seed(stack: Path, capsys: pytest.CaptureFixture[str]):
    said = []
    for seed in ("3", "3", "4"):
        capsys.readouterr()
        main(["augment", str(stack), "--show", "2", "--seed", seed, "--out", str(stack.with_suffix(".svg"))])
        said.append(capsys.readouterr().out)
    assert said[0] == said[1] != said[2]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--show", "0"], "nothing to show; found 0"),
        (["--prediction-horizon", "60"], "no chunk ends before a grasp"),
        (["--action-horizon", "1"], "Counterfactual.action_horizon: cannot be used; found 1"),
        (["--out", "x.jpeg"], "not a picture's ending; found '.jpeg'; expected .png, .pdf, .svg"),
        (["--action-spec", "osc"], "unknown action spec; found 'osc'"),
        (["--filter-key", "train"], "unknown filter key; found 'train'"),
    ],
)
def test_augment_refuses(stack: Path, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]):
    assert main(["augment", str(stack), *arguments]) == 2
    assert words in capsys.readouterr().err


def test_convert_makes_actions_absolute(stack: Path):
    for actions, dim in (("absolute", 7), ("rot6d-absolute", 10)):
        target = stack.with_name(f"{actions}.zarr")
        assert main(["convert", str(stack), str(target), "--actions", actions]) == 0
        with open_dataset(target) as dataset:
            assert dataset.info.action_spec.kind == "absolute"
            assert dataset[0].actions.shape[1] == dim


def test_convert_and_back(stack: Path):
    absolute, again = stack.with_name("absolute.hdf5"), stack.with_name("again.hdf5")
    assert main(["convert", str(stack), str(absolute), "--actions", "absolute"]) == 0
    assert main(["convert", str(absolute), str(again), "--actions", "osc-delta"]) == 0
    with open_dataset(stack) as dataset, open_dataset(again) as back:
        for demo, returned in zip(dataset, back, strict=True):
            assert returned.action_spec == demo.action_spec
            np.testing.assert_allclose(returned.actions, demo.actions, atol=1e-9)


def test_augment_takes_absolute_actions_as_they_are(stack: Path):
    absolute = stack.with_name("absolute.hdf5")
    assert main(["convert", str(stack), str(absolute), "--actions", "absolute"]) == 0
    assert main(["augment", str(absolute), "--show", "1", "--out", str(stack.with_suffix(".png"))]) == 0


def test_convert_refuses_an_existing_target(stack: Path, capsys: pytest.CaptureFixture[str]):
    before = stack.read_bytes()
    assert main(["convert", str(stack), str(stack)]) == 2
    assert "already exists; to mend it: choose another name, or replace it (--force)" in capsys.readouterr().err
    assert stack.read_bytes() == before


def started(target: Path) -> subprocess.Popen[str]:
    """A real process that is about to write for long."""
    command = [sys.executable, "-m", "sido.cli.main", "synthesize", str(target), "--demos", "100000"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=os.environ)
    while not any(target.parent.iterdir()):
        assert process.poll() is None
        time.sleep(0.05)
    time.sleep(0.3)
    return process


@pytest.mark.parametrize(("signal_", "name"), [(signal.SIGINT, "big.hdf5"), (signal.SIGTERM, "big.zarr.zip")])
def test_who_is_asked_to_stop_leaves_no_half_file(tmp_path: Path, signal_: signal.Signals, name: str):
    process = started(tmp_path / name)
    process.send_signal(signal_)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said.strip() == "stopped; nothing was left half written"
    assert list(tmp_path.iterdir()) == []


def test_who_is_killed_leaves_nothing_under_the_name_and_the_next_one_tidies_up(tmp_path: Path):
    target = tmp_path / "big.zarr.zip"
    process = started(target)
    process.kill()
    process.communicate(timeout=60)
    assert not target.exists()
    assert list(tmp_path.iterdir()) != []
    assert main(["synthesize", str(target), "--demos", "2"]) == 0
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("format", ["robomimic", "lerobot", "lerobot-video", "zarr"])
def test_a_disk_that_is_full_is_told_in_one_line(stack: Path, format: str, capsys: pytest.CaptureFixture[str]):
    target = stack.parent / "out" / ("copy.zarr" if format == "zarr" else "copy")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_500, hard))
    try:
        assert main(["convert", str(stack), str(target), "--format", format]) == 2
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    said = capsys.readouterr().err
    assert said.startswith(f"error: {target}")
    assert "File too large; to mend it: " in said
    assert said.count("\n") == 1
    assert list(target.parent.iterdir()) == []


def test_interruptions_wait_for_the_step_at_hand_and_a_second_one_does_not():
    before = signal.getsignal(signal.SIGINT)
    steps = []
    with pytest.raises(KeyboardInterrupt), interruptible() as between_steps:
        for step in range(5):
            between_steps()
            if step == 2:
                signal.raise_signal(signal.SIGINT)
            steps.append(step)
    assert steps == [0, 1, 2]
    with pytest.raises(KeyboardInterrupt), interruptible():
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGINT)
        pytest.fail("not reached")
    assert signal.getsignal(signal.SIGINT) is before
    in_a_thread = []

    def elsewhere() -> None:
        with interruptible() as between_steps:
            between_steps()
            in_a_thread.append(True)

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert in_a_thread == [True]


def test_a_pipe_that_is_closed_early_is_no_error(stack: Path):
    command = f"{sys.executable} -m sido.cli.main inspect {stack} --json | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=os.environ, timeout=60)
    assert (done.stdout, done.stderr) == ("141\n", "")


def test_help_teaches(capsys: pytest.CaptureFixture[str]):
    for verb in ("inspect", "augment", "convert", "synthesize"):
        with pytest.raises(SystemExit) as stopped:
            main([verb, "--help"])
        assert stopped.value.code == 0
        assert len(capsys.readouterr().out.splitlines()) > 15


@pytest.mark.usefixtures("as_user")
def test_force_replaces_datasets_and_nothing_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    project = tmp_path / "project"
    (project / "data").mkdir(parents=True)
    source = project / "data" / "stack.hdf5"
    assert main(["synthesize", str(source), "--demos", "2"]) == 0
    (project / "thesis.tex").write_text("years of work")
    for command in (["convert", str(source), str(project)], ["synthesize", str(project), "--demos", "1"]):
        assert main([*command, "--force"]) == 2
    assert (project / "thesis.tex").read_text() == "years of work"
    assert source.exists()
    assert main(["convert", str(source), str(tmp_path / "lerobot")]) == 0
    inside = tmp_path / "lerobot" / "stack.hdf5"
    source.rename(inside)
    capsys.readouterr()
    assert main(["convert", str(inside), str(tmp_path / "lerobot"), "--force"]) == 2
    assert "the source lies within the target" in capsys.readouterr().err
    inside.rename(source)
    assert main(["convert", str(source), str(tmp_path / "lerobot"), "--force"]) == 0
    assert not inside.exists()
    capsys.readouterr()
