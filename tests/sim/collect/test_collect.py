"""The dataset follows from the recipe, and from nothing else; and it is what the formats say."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from clumsy import Clumsy
from ray_nodes import two_nodes
from sido.demos import ACTION_SPECS, find_grasp, open_dataset, to_absolute
from sido.errors import SettingError, SidoError
from sido.jobs import Here, Processes, RayCluster
from sido.sim.collect import Recipe, Report, Standing, collect
from sido.sim.collect.attempt import Attempt
from sido.sim.collect.contact_log import grasp_step
from sido.sim.collect.journal import Journal
from sido.sim.collect.player import Player, PlayerOf
from sido.sim.experts import ExpertSettings
from sido.sim.tasks import shared_task

MADE_WITH = {"sido": "test"}
CLUMSY = Recipe("stack", 4)
"""Attempts 1 and 4 fail (see `Clumsy`): 0, 2, 3, 5 are the dataset."""


def made(recipe: Recipe, output: Path, crew: Any = None, **options: Any) -> Report:
    return collect(recipe, output, crew or Here(), made_with=MADE_WITH, **options)


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What every other way of collecting must come to."""
    output = tmp_path_factory.mktemp("undisturbed") / "stack.hdf5"
    told: list[Standing] = []
    report = made(CLUMSY, output, expert=Clumsy, progress=told.append)
    assert (report.demos, report.attempts, report.endings) == (4, 6, {"success": 4, "time": 2})
    assert report.robot_time_s > 40.0, "two attempts took their twenty seconds"
    assert told[-1].demos == 4
    assert list(output.parent.iterdir()) == [output], "nothing is left behind"
    return output


def test_it_is_the_first_attempts_that_succeed(undisturbed: Path):
    with h5py.File(undisturbed) as file:
        data = file["data"]
        assert sorted(data) == ["demo_0", "demo_1", "demo_2", "demo_3"]
        assert [data[f"demo_{k}"].attrs["seed"] for k in range(4)] == ["0", "2", "3", "5"]
        assert json.loads(data["demo_0"].attrs["expert"])["reaction_delay_s"] == 0.0
        told = json.loads(json.loads(data.attrs["sido"])["provenance"])
    assert (told["attempts"], told["demos"], told["success_rate"]) == (6, 4, pytest.approx(4 / 6))
    assert told["recipe"]["motion"] == "still"
    assert told["made_with"] == MADE_WITH
    assert "elapsed_s" not in told, "the clock would make files differ"


@pytest.mark.parametrize("batch", [1, 3])
def test_portions_do_not_matter(undisturbed: Path, tmp_path: Path, batch: int):
    made(CLUMSY, tmp_path / "stack.hdf5", expert=Clumsy, batch=batch)
    assert (tmp_path / "stack.hdf5").read_bytes() == undisturbed.read_bytes()


def test_processes_do_not_matter(undisturbed: Path, tmp_path: Path):
    made(CLUMSY, tmp_path / "stack.hdf5", Processes(2), expert=Clumsy, batch=1)
    assert (tmp_path / "stack.hdf5").read_bytes() == undisturbed.read_bytes()


def test_a_cluster_that_loses_a_node_does_not_matter(
    undisturbed: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
):
    with two_nodes() as cluster:
        told: list[Standing] = []

        def watch(standing: Standing) -> None:
            told.append(standing)
            if standing.attempts >= 2 and cluster.worker_nodes:
                cluster.remove_node(*cluster.worker_nodes, allow_graceful=False)

        capfd.readouterr()
        output = tmp_path / "stack.hdf5"
        made(CLUMSY, output, RayCluster(cluster.address), expert=Clumsy, progress=watch, batch=1)
        said = capfd.readouterr()
        assert not cluster.worker_nodes
    assert (said.out, said.err) == ("", "")
    assert output.read_bytes() == undisturbed.read_bytes()


@pytest.mark.parametrize(("workers", "kills"), [(1, 3), (2, 1)])
def test_being_killed_does_not_matter(undisturbed: Path, tmp_path: Path, workers: int, kills: int):
    output, rng = tmp_path / "stack.hdf5", random.Random(workers)
    for attempts in sorted(rng.sample(range(1, 6), kills)):
        run(output, workers, kill_at=attempts)
        assert not output.exists()
    assert run(output, workers) == "done"
    assert output.read_bytes() == undisturbed.read_bytes()
    assert list(tmp_path.iterdir()) == [output], "nothing is left behind"


def run(output: Path, workers: int, *, kill_at: int = 99) -> str:
    """A process that collects, and is killed as soon as so many attempts are kept; the last that it says."""
    here = [str(Path(__file__).parents[2]), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, here))}
    command = [sys.executable, str(Path(__file__).with_name("kill_me.py")), str(output), "4", str(workers)]
    said = ""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        for line in process.stdout:
            said = line.strip()
            if said.isdecimal() and int(said) >= kill_at:
                process.send_signal(signal.SIGKILL)
                break
    return said


@pytest.mark.parametrize("moment", ["written", "announced", "moved", "removing"])
def test_being_killed_at_the_end_does_not_matter(
    undisturbed: Path, tmp_path: Path, moment: str, monkeypatch: pytest.MonkeyPatch
):
    output = tmp_path / "stack.hdf5"

    class Killed(BaseException):
        pass

    def die(*_arguments: Any) -> None:
        raise Killed

    finish, remove, replace = Journal.finish, Journal.remove, Path.replace

    def finish_until(journal: Journal, built: Path, place: Path) -> None:
        with monkeypatch.context() as patch:
            if moment == "announced":
                patch.setattr(Path, "replace", lambda path, to: die() if path == built else replace(path, to))
            elif moment == "moved":
                patch.setattr(Journal, "remove", die)
            else:
                patch.setattr(Journal, "remove", lambda journal: die((journal.folder / "settings.json").unlink()))
            finish(journal, built, place)

    monkeypatch.setattr(Journal, "finish", die if moment == "written" else finish_until)
    with pytest.raises(Killed):
        made(CLUMSY, output, expert=Clumsy)
    monkeypatch.setattr(Journal, "finish", finish)
    assert remove is Journal.remove
    assert output.exists() == (moment in ("moved", "removing"))
    report = made(CLUMSY, output, expert=Clumsy)
    assert report.attempts == 6
    assert output.read_bytes() == undisturbed.read_bytes()
    assert list(tmp_path.iterdir()) == [output]


def test_an_existing_dataset_is_kept_unless_told(tmp_path: Path):
    output, recipe = tmp_path / "a.hdf5", Recipe("stack", 1)
    output.write_text("mine")
    with pytest.raises(SettingError, match=r"already exists.*--force"):
        made(recipe, output)
    assert list(tmp_path.iterdir()) == [output]
    assert output.read_text() == "mine"
    made(recipe, output, overwrite=True)
    assert len(open_dataset(output)) == 1


def test_other_settings_do_not_go_on(tmp_path: Path):
    def stop(standing: Standing) -> None:
        if standing.attempts:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        made(Recipe("stack", 2), tmp_path / "a.hdf5", progress=stop)
    with pytest.raises(SettingError, match=r"recipe.expert.grasp_offset_m, recipe.seed: it was begun with other"):
        made(Recipe("stack", 2, seed=5, expert=ExpertSettings(grasp_offset_m=0.006)), tmp_path / "a.hdf5")


def test_hopeless_collections_are_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sido.sim.collect.plan.BEFORE_GIVING_UP", 2)
    with pytest.raises(SidoError, match=r"succeeds too rarely to go on; found 0 usable of 2 attempts \(2 time\)"):
        made(Recipe("stack", 3, motion="x", speed_mps=0.6, obstacle="outside"), tmp_path / "a.hdf5", batch=2)


# --- what is in it


def check_grasps(output: Path, demos: int) -> None:
    """Against the contact log: the annotation, and what a reader finds without it."""
    with open_dataset(output) as dataset:
        assert len(dataset) == demos
        assert dataset.info.warnings == ()
        for demo in dataset:
            closing, held = demo.recorded["events/closing"], demo.recorded["events/held"]
            expected = grasp_step(closing, held, demo.object_position)
            assert demo.grasp is not None
            assert demo.grasp.source == "contact log"
            assert demo.grasp.index == expected
            assert not held[: expected + 1].any() or held[:expected].any()
            np.testing.assert_array_equal(closing, demo.action_spec.closes(demo.actions))
            np.testing.assert_array_equal(demo.subtask_signals["grasp"][1:], held[:-1])
            assert find_grasp(demo).index == expected
    with h5py.File(output, "r+") as file:
        for name in file["data"]:
            del file[f"data/{name}"].attrs["sido_grasp"]
    with open_dataset(output) as dataset:
        for demo in dataset:
            assert demo.grasp is not None
            assert demo.grasp.source == "subtask signal 'grasp'"
            closing, held = demo.recorded["events/closing"], demo.recorded["events/held"]
            assert demo.grasp.index == grasp_step(closing, held, demo.object_position)


TASKS = {
    "stack": {},
    "stack moving": {"motion": "circle", "speed_mps": 0.02, "expert": ExpertSettings(0.1, 0.002, 0.006)},
    "square": {},
    "mug": {},
    "gantry": {"placements": "x"},
    "peachtree": {"motion": "peachtree"},
}


@pytest.mark.parametrize("name", TASKS)
def test_the_grasp_is_the_contact_logs(tmp_path: Path, name: str):
    made(Recipe(name.split()[0], 3, **TASKS[name]), tmp_path / "a.hdf5")
    check_grasps(tmp_path / "a.hdf5", 3)
    with open_dataset(tmp_path / "a.hdf5") as dataset:
        for demo in dataset:
            driven = demo.recorded["events/driven"]
            assert driven.any() == ("motion" in TASKS[name] or name == "peachtree")
            assert not driven[-1], "it is free after the grasp"


def test_increments_command_the_same(tmp_path: Path):
    for name in ("osc-absolute", "osc-delta"):
        made(Recipe("stack", 1, action_spec=ACTION_SPECS[name]), tmp_path / f"{name}.hdf5")
    with open_dataset(tmp_path / "osc-absolute.hdf5") as absolute, open_dataset(tmp_path / "osc-delta.hdf5") as delta:
        one, other = absolute[0], to_absolute(delta[0])
        assert delta[0].action_spec == ACTION_SPECS["osc-delta"]
        target = "datagen_info/target_pose"
        np.testing.assert_allclose(delta[0].recorded[target], absolute[0].recorded[target], atol=1e-6)
        np.testing.assert_allclose(other.actions[:, :3], one.actions[:, :3], atol=1e-6)


def test_images(tmp_path: Path):
    made(Recipe("stack", 1, cameras=("agentview", "robot0_eye_in_hand"), image_size=32), tmp_path / "a.hdf5")
    with open_dataset(tmp_path / "a.hdf5") as dataset:
        demo = dataset[0]
        assert dataset.info.cameras == ("agentview", "robot0_eye_in_hand")
        for frames in demo.images.values():
            assert frames.shape == (len(demo), 32, 32, 3)
            assert frames[:].std() > 10
            moving = np.abs(np.diff(frames[:].astype(int), axis=0)).max(axis=(1, 2, 3))
            assert (moving[5:20] > 0).all()


def test_lerobot_and_zarr(tmp_path: Path):
    recipe = Recipe("stack", 2)
    for name in ("stack", "stack.zarr.zip", "stack.hdf5"):
        made(recipe, tmp_path / name)
    with open_dataset(tmp_path / "stack.hdf5") as reference:
        for name in ("stack", "stack.zarr.zip"):
            with open_dataset(tmp_path / name) as dataset:
                assert json.loads(dataset.info.provenance)["attempts"] == 2
                for one, other in zip(dataset, reference, strict=True):
                    assert one.grasp == other.grasp
                    assert one.metadata["seed"] == other.metadata["seed"]
                    assert set(one.recorded) >= {"states", "events/held", "datagen_info/target_pose"}
                    np.testing.assert_array_equal(one.recorded["states"], other.recorded["states"])


# --- a place for each


def test_each_place_gets_its_demonstration(tmp_path: Path):
    recipe = Recipe("gantry", 4, placements="grid", seed=1)
    report = made(recipe, tmp_path / "a.hdf5", expert=Clumsy)  # seeds 1 and 4 fail: attempts 0 and 3
    assert report.attempts == 6
    with open_dataset(tmp_path / "a.hdf5") as dataset:
        starts = {tuple(np.round(demo.object_position[0, :2], 6)) for demo in dataset}
        assert [demo.metadata["seed"] for demo in dataset] == ["2", "3", "5", "8"]
    (x_low, y_low), (x_high, y_high) = shared_task("gantry").region.low_m, shared_task("gantry").region.high_m
    assert starts == {(round(x, 6), round(y, 6)) for x in (x_low, x_high) for y in (y_low, y_high)}


def test_an_attempt_is_the_same_in_any_company():
    recipe = Recipe("stack", 1, motion="random", speed_mps=0.03, expert=ExpertSettings(0.1, 0.003, 0.006))
    player = PlayerOf(recipe)()
    assert isinstance(player, Player)
    together = player([Attempt(k, 10 + k) for k in range(4)])
    (alone,) = player([Attempt(2, 12)])
    assert (alone.ending, alone.steps) == (together[2].ending, together[2].steps)
    assert set(alone.arrays) == set(together[2].arrays)
    for name, array in alone.arrays.items():
        np.testing.assert_array_equal(array, together[2].arrays[name], err_msg=name)
