"""Every format reads back what was written in it, and a chain through all of them loses nothing that all can hold."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from contracts.demo_source import check_demo, check_demo_source, check_laziness
from memory_source import synthetic_demos
from sido.demos import ACTION_SPECS, DatasetInfo, Demo, Environment, Grasp, Hints, create_dataset, open_dataset
from sido.demos.dataset import OBJECT_FROM_GRASP
from sido.demos.formats import format_of
from sido.geometry import Pose, quat_about_z

FORMATS = {
    "robomimic": "set.hdf5",
    "lerobot": "set",
    "lerobot-video": "set_video",
    "zarr": "set.zarr",
    "zarr zip": "set.zarr.zip",
}


def demos(**options) -> list[Demo]:
    """Demonstrations that have everything that files of the field have, 12 of them so that numbers sort as numbers."""
    rng = np.random.default_rng(0)
    made = []
    for demo in synthetic_demos(12, image_size=16, **options):
        length = len(demo)
        recorded = {
            "obs/robot0_joint_pos": rng.normal(size=(length, 7)),
            "obs/robot0_joint_pos_cos": rng.normal(size=(length, 7)).astype(np.float32),
            "states": rng.normal(size=(length, 45)),
            "rewards": np.linspace(0, 1, length),
            "dones": (np.arange(length) == length - 1).astype(np.int64),
            "datagen_info/target_pose": rng.normal(size=(length, 4, 4)),
        }
        made.append(
            dataclasses.replace(
                demo,
                recorded=recorded,
                metadata={"model_file": "<mujoco/>", "ep_meta": '{"layout": 3}'},
                grasp=Grasp(int(rng.integers(30, 40)), "by hand", window_start=4),
            )
        )
    return made


def info_of(made: list[Demo], **changes) -> DatasetInfo:
    info = DatasetInfo(
        format="memory",
        action_spec=made[0].action_spec,
        cameras=tuple(made[0].images),
        environment=Environment("Stack_D0", "1.5.2", ""),
        world_from_base=Pose([-0.56, 0.0, 0.912], [1.0, 0.0, 0.0, 0.0]),
        object_position_source="made up",
        filter_keys={"train": ("demo_0", "demo_10", "demo_2"), "valid": ("demo_11",)},
    )
    return dataclasses.replace(info, **changes)


def written(folder: Path, kind: str, made: list[Demo], info: DatasetInfo | None = None) -> Path:
    path = folder / FORMATS[kind]
    with create_dataset(path, info or info_of(made), format=kind.split()[0]) as writer:
        for demo in made:
            writer.write(demo)
    return path


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("spec", ["osc-delta", "osc-absolute"])
def test_reads_what_was_written(tmp_path: Path, kind: str, spec: str):
    made = demos(spec=ACTION_SPECS[spec])
    path = written(tmp_path, kind, made)
    source = format_of(path).opens(path, Hints())
    check_demo_source(source, made, lossy_images=kind == "lerobot-video")
    expected = info_of(made)
    assert source.info.action_spec == expected.action_spec
    assert dict(source.info.filter_keys) == dict(expected.filter_keys)
    assert source.info.environment.name == "Stack_D0"
    assert source.info.environment.version == "1.5.2"
    assert source.info.world_from_base == expected.world_from_base
    source.close()
    check_laziness(path, Hints())


@pytest.mark.parametrize("kind", FORMATS)
def test_a_robot_that_stands_turned_in_the_world(tmp_path: Path, kind: str):
    made = demos(spec=ACTION_SPECS["osc-absolute"])[:2]
    turned = info_of(made, world_from_base=Pose([0.3, -0.2, 0.9], quat_about_z(np.array(0.7))), filter_keys={})
    with open_dataset(written(tmp_path, kind, made, turned)) as dataset:
        for found, original in zip(dataset, made, strict=True):
            check_demo(found, original, lossy_images=True)


@pytest.mark.parametrize("kind", FORMATS)
def test_bare_demonstrations(tmp_path: Path, kind: str):
    """No images, no object, no signals, no extras, no environment."""
    made = [
        dataclasses.replace(demo, images={}, task="")
        for demo in synthetic_demos(2, with_object=False, with_signals=False)
    ]
    info = DatasetInfo("memory", made[0].action_spec)
    path = written(tmp_path, kind, made, info)
    source = format_of(path).opens(path, Hints())
    check_demo_source(source, made)
    assert source.info.object_position_source is None
    source.close()


@pytest.mark.parametrize("kind", FORMATS)
def test_the_object_can_be_taken_from_the_grasp(tmp_path: Path, kind: str):
    made = demos()[:2]
    path = written(tmp_path, kind, made, info_of(made, filter_keys={}))
    with open_dataset(path, hints=Hints(object_key="grasp")) as dataset:
        assert dataset.info.object_position_source == OBJECT_FROM_GRASP
        for demo in dataset:
            before = demo.object_position[: demo.grasp.index + 1]
            np.testing.assert_array_equal(before, np.tile(demo.eef_position[demo.grasp.index], (len(before), 1)))
            after = slice(demo.grasp.index + 1, None)
            np.testing.assert_array_equal(demo.object_position[after], demo.eef_position[after])


def test_the_long_way_round_loses_nothing(tmp_path: Path):
    """robomimic -> LeRobot -> zarr -> zarr zip -> robomimic, images bit-exact."""
    made = demos()
    path = written(tmp_path, "robomimic", made)
    for kind in ("lerobot", "zarr", "zarr zip", "robomimic"):
        folder = tmp_path / f"to_{kind}"
        with open_dataset(path) as dataset:
            path = written(folder, kind, list(dataset), dataset.info)
    with open_dataset(path) as dataset:
        assert dict(dataset.info.filter_keys) == dict(info_of(made).filter_keys)
        assert dataset.subset("train").names == ("demo_0", "demo_10", "demo_2")
        for found, original in zip(dataset, made, strict=True):
            check_demo(found, original)


@pytest.mark.parametrize("kind", FORMATS)
def test_an_interrupted_write_leaves_nothing(tmp_path: Path, kind: str):
    made = demos()
    with (
        pytest.raises(KeyboardInterrupt),
        create_dataset(tmp_path / FORMATS[kind], info_of(made), format=kind.split()[0]) as writer,
    ):
        writer.write(made[0])
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


class Broken:
    """A source with one fault: the contract must notice."""

    def __init__(self, source, fault: str) -> None:
        self._source, self._fault = source, fault
        self.info = source.info
        self.names = tuple(sorted(source.names)) if fault == "order" else source.names

    def length(self, index: int) -> int:
        return self._source.length(index) + (self._fault == "length")

    def read(self, index: int) -> Demo:
        demo = self._source.read(index)
        if self._fault == "frame":
            return dataclasses.replace(demo, eef_position=demo.eef_position + 0.01)
        if self._fault == "rotation":
            return dataclasses.replace(demo, eef_quat_wxyz=np.roll(demo.eef_quat_wxyz, 1, axis=1))
        if self._fault == "extras":
            return dataclasses.replace(demo, recorded={})
        if self._fault == "grasp":
            return dataclasses.replace(demo, grasp=None)
        return demo

    def close(self) -> None:
        self._source.close()


@pytest.mark.parametrize("fault", ["order", "length", "frame", "rotation", "extras", "grasp"])
def test_the_contract_rejects_a_broken_source(tmp_path: Path, fault: str):
    made = demos()
    path = written(tmp_path, "robomimic", made)
    source = format_of(path).opens(path, Hints())
    check_demo_source(source, made)
    with pytest.raises(AssertionError):
        check_demo_source(Broken(source, fault), made)
    source.close()
