"""Chunks executed from moments of demonstrations; and the study that is made of them."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from memory_source import memory_dataset, synthetic_demos
from sido.augment import FitSettings, fit_dynamics
from sido.demos import ACTION_SPECS, to_relative
from sido.demos.demo import Demo
from sido.errors import DataError, SettingError
from sido.experiments.chunk_execution import ChunkExecutor, Snapshots
from sido.experiments.chunk_study import STATIC, ChunkStudySettings, study_chunks
from sido.jobs import Here
from sido.sim.collect import Recipe, collect
from sido.sim.tasks import Task, shared_task

QUICK = FitSettings(one_step_updates=60, rollout_updates=10, width=8)


@pytest.fixture(scope="session")
def stack() -> Task:
    return shared_task("stack")


@pytest.fixture(scope="session")
def demos(tmp_path_factory: pytest.TempPathFactory) -> list[Demo]:
    from sido.demos import open_dataset

    file = tmp_path_factory.mktemp("study") / "stack.hdf5"
    collect(Recipe("stack", 3), file, Here(), made_with={})
    with open_dataset(file) as dataset:
        return list(dataset)


def windows(demo: Demo, steps: list[int]) -> tuple[np.ndarray, np.ndarray]:
    actions = np.stack([demo.actions[step : step + 16] for step in steps])
    return actions, np.stack([demo.eef_position[step : step + 17] for step in steps])


@pytest.mark.parametrize("kind", ["absolute", "relative"])
def test_demonstrated_chunks_lead_where_they_led(demos: list[Demo], stack: Task, kind: str):
    demo = demos[0] if kind == "absolute" else to_relative(demos[0], ACTION_SPECS["osc-delta"])
    steps = [0, 3, 11, 30, 45]  # the last ones while the fingers close, and once they hold
    actions, led = windows(demo, steps)
    executor = ChunkExecutor(stack, demo.action_spec, envs=2)
    told = executor(Snapshots.of(demo, steps, stack), actions)
    np.testing.assert_allclose(told.eef_position[:3], led[:3], atol=1e-6)
    np.testing.assert_allclose(told.eef_position, led, atol=2e-4)
    assert demo.object_position is not None
    things = np.stack([demo.object_position[step : step + 17] for step in steps])
    np.testing.assert_allclose(told.object_position, things, atol=5e-4)
    executor.close()


def test_a_teleported_object_is_elsewhere_and_nothing_else_changes(demos: list[Demo], stack: Task):
    demo, steps = demos[0], [0, 5]
    actions, led = windows(demo, steps)
    delta = np.array([[0.02, 0.0, 0.0], [0.0, -0.03, 0.0]])
    executor = ChunkExecutor(stack, demo.action_spec, envs=2)
    told = executor(Snapshots.of(demo, steps, stack).teleported(stack, delta), actions)
    np.testing.assert_allclose(told.eef_position, led, atol=1e-6)
    assert demo.object_position is not None
    np.testing.assert_allclose(told.object_position[:, 0], demo.object_position[steps] + delta, atol=1e-9)
    np.testing.assert_allclose(told.hand_object_offset, told.eef_position - told.object_position)
    executor.close()


def test_demonstrations_without_states_are_refused(stack: Task):
    (demo,) = synthetic_demos(1)
    with pytest.raises(DataError, match="demo_0 > states: no states from which the simulator could go on"):
        Snapshots.of(demo, [0], stack)


def test_the_study_measures_what_it_says(demos: list[Demo], stack: Task):
    settings = ChunkStudySettings(chunks=4, speeds_mps=(0.02, 0.10), held_out_every=3, fit=QUICK)
    study = study_chunks(memory_dataset(demos), stack, settings)
    assert [(row.speed_mps, row.generator) for row in study.rows] == [
        (speed, name)
        for speed in (0.02, 0.10)
        for name in (STATIC, "H-SIDO", "DynaSIDO, MPPI", "DynaSIDO, Gauss-Newton")
    ]
    slow, fast = study.rows[:4], study.rows[4:]
    for static in (slow[0], fast[0]):
        assert max(static.miss_m) < 1e-9
        assert static.chunks == 4
        assert static.touched == 0
    # An absolute ramp that ends one step before T_a is behind there, in proportion to the displacement.
    assert slow[1].miss_m[0] == pytest.approx(fast[1].miss_m[0] / 5, rel=0.1)
    assert 0.4 < slow[1].miss_m[0] / 0.016 < 0.6
    for refined in slow[2:]:
        assert refined.miss_m[0] < 0.5 * slow[1].miss_m[0]


def test_relative_actions_have_a_calibrated_row(demos: list[Demo], stack: Task):
    told = [to_relative(demo, ACTION_SPECS["osc-delta"]) for demo in demos]
    settings = ChunkStudySettings(chunks=3, speeds_mps=(0.02,), held_out_every=3, fit=QUICK)
    study = study_chunks(memory_dataset(told), stack, settings)
    assert study == study_chunks(memory_dataset(told), stack, settings)
    names = [row.generator for row in study.rows]
    assert names[1:3] == ["H-SIDO", "H-SIDO, calibrated gain"]


def test_bad_input_is_refused(demos: list[Demo], stack: Task):
    with pytest.raises(SettingError, match="nothing to study"):
        ChunkStudySettings(speeds_mps=())
    with pytest.raises(DataError, match="too few demonstrations with a grasp"):
        study_chunks(memory_dataset(demos[:1]), stack)
    early = [dataclasses.replace(demo, grasp=dataclasses.replace(demo.grasp, index=12)) for demo in demos if demo.grasp]
    with pytest.raises(DataError, match="no chunk ends before a grasp"):
        study_chunks(memory_dataset([*early[:1], *demos[1:]]), stack, ChunkStudySettings(held_out_every=3, fit=QUICK))


def test_the_command_prints_a_table_and_writes_numbers(
    demos: list[Demo], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    import json

    from sido.cli.main import main
    from sido.demos import DatasetInfo, create_dataset

    monkeypatch.setattr(
        "sido.experiments.chunk_study.fit_dynamics", lambda motions, spec, _fit: fit_dynamics(motions, spec, QUICK)
    )
    file = tmp_path / "stack.hdf5"
    with create_dataset(file, DatasetInfo("collected", demos[0].action_spec)) as writer:
        for demo in demos:
            writer.write(demo)
    out = tmp_path / "study.json"
    arguments = ["study", "chunks", str(file), "--chunks", "2", "--speeds", "0.02", "--actions", "absolute"]
    assert main([*arguments, "-o", str(out)]) == 0
    assert "DynaSIDO, MPPI" in capsys.readouterr().out
    (document,) = json.loads(out.read_text())
    assert len(document["rows"]) == 4
