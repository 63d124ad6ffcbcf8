"""What is written is read back, by sido here and by robomimic in tests/peers; and a broken writing leaves nothing."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import h5py
import numpy as np
import pytest

from demos.robomimic.raw_file import BASE_M, MODEL, env_args, turned_demos, write_raw
from sido.demos.absolute import to_absolute, with_rotation
from sido.demos.action_spec import ACTION_SPECS
from sido.demos.demo import Demo, Grasp
from sido.demos.robomimic import RobomimicSource, RobomimicWriter
from sido.demos.source import DatasetInfo, Environment, Hints
from sido.errors import DataError, SettingError
from sido.geometry import Pose, quat_angle

OSC = ACTION_SPECS["osc-delta"]
WORLD_FROM_BASE = Pose(BASE_M, (1.0, 0.0, 0.0, 0.0))
TURNED_BASE = Pose(BASE_M, (0.6, 0.0, 0.0, 0.8))
STACK = DatasetInfo("synthetic", OSC, environment=Environment("Stack_D0", "1.4.1"), world_from_base=WORLD_FROM_BASE)


def write(path: Path, demos: list[Demo], info: DatasetInfo) -> Path:
    with RobomimicWriter(path, info) as writer:
        for demo in demos:
            writer.write(demo)
    return path


def read(path: Path) -> tuple[list[Demo], DatasetInfo]:
    source = RobomimicSource(path, Hints())
    return [source.read(index) for index in range(len(source.names))], source.info


def assert_same(found: Demo, expected: Demo) -> None:
    assert found.action_spec == expected.action_spec
    assert (found.task, found.grasp) == (expected.task, expected.grasp)
    for name in ("actions", "eef_position", "gripper"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=0, atol=1e-12, err_msg=name)
    assert quat_angle(found.eef_quat_wxyz, expected.eef_quat_wxyz).max() < 1e-12
    if expected.object_position is None:
        assert found.object_position is None
    else:
        np.testing.assert_allclose(found.object_position, expected.object_position, rtol=0, atol=1e-12)
    assert set(found.subtask_signals) == set(expected.subtask_signals)
    for name, signal in expected.subtask_signals.items():
        np.testing.assert_array_equal(found.subtask_signals[name], signal)
    assert set(found.images) == set(expected.images)
    for camera, frames in expected.images.items():
        np.testing.assert_array_equal(found.images[camera][:], frames[:])


@pytest.mark.parametrize("base", [None, WORLD_FROM_BASE, TURNED_BASE], ids=["no base", "base", "turned base"])
@pytest.mark.parametrize("environment", [None, Environment("Stack_D0", "1.4.1"), Environment("Juggle", "1.5.2")])
@pytest.mark.parametrize("form", ["relative", "axis_angle", "rot6d"])
def test_everything_comes_back(tmp_path: Path, form: str, environment: Environment | None, base: Pose | None) -> None:
    demos = [dataclasses.replace(demo, grasp=Grasp(34, "by hand", 3)) for demo in turned_demos(2, image_size=8)]
    if form == "relative":
        # A box of +-1 does not survive a turn of the base: stay well within it.
        demos = [dataclasses.replace(demo, actions=demo.actions * ([0.5] * 6 + [1.0])) for demo in demos]
    else:
        demos = [to_absolute(demo) for demo in demos]
    if form == "rot6d":
        demos = [with_rotation(demo, "rot6d") for demo in demos]
    info = DatasetInfo("x", demos[0].action_spec, environment=environment, world_from_base=base)

    found, found_info = read(write(tmp_path / "a.hdf5", demos, info))

    for one, other in zip(found, demos, strict=True):
        assert_same(one, other)
    assert found_info.action_spec == info.action_spec
    assert found_info.world_from_base == base
    assert found_info.warnings == ()
    name = None if environment is None else (environment.name, environment.version)
    assert name == (found_info.environment and (found_info.environment.name, found_info.environment.version))


def test_without_an_object_it_stays_without(tmp_path: Path) -> None:
    demos = turned_demos(1, with_object=False)
    info = dataclasses.replace(STACK, environment=Environment("Juggle"))
    found, found_info = read(write(tmp_path / "a.hdf5", demos, info))
    assert_same(found[0], demos[0])
    assert found_info.object_position_source is None


def test_a_robomimic_file_is_carried_over_verbatim(tmp_path: Path) -> None:
    raw = write_raw(tmp_path / "raw.hdf5", turned_demos(3, image_size=8), robomimic_extras=True)
    demos, info = read(raw)
    copy = write(tmp_path / "copy.hdf5", demos, info)

    with h5py.File(raw) as before, h5py.File(copy) as after:
        for name in before["data"]:
            one, other = before[f"data/{name}"], after[f"data/{name}"]
            for path in _dataset_paths(one):
                if path.startswith("next_obs/"):
                    continue
                assert other[path].dtype == one[path].dtype, path
                np.testing.assert_array_equal(other[path][()], one[path][()], err_msg=path)
            assert other.attrs["model_file"] == MODEL
            assert other.attrs["ep_meta"] == one.attrs["ep_meta"]
            assert other.attrs["num_samples"] == len(one["actions"])
            assert other["datagen_info"].attrs["env_interface_name"] == "MG_Stack"
        assert after["data"].attrs["env_args"] == before["data"].attrs["env_args"]
        assert after["data"].attrs["total"] == before["data"].attrs["total"]
        for mask in before["mask"]:
            np.testing.assert_array_equal(after[f"mask/{mask}"][()], before[f"mask/{mask}"][()])

    again, info_again = read(copy)
    assert info_again == info
    for one, other in zip(again, demos, strict=True):
        assert_same(one, other)
        assert set(one.recorded) == set(other.recorded)
        assert one.metadata == other.metadata


def _dataset_paths(group: h5py.Group) -> list[str]:
    paths: list[str] = []
    group.visititems(lambda path, item: paths.append(path) if isinstance(item, h5py.Dataset) else None)
    return paths


def test_images_are_stored_one_frame_a_chunk(tmp_path: Path) -> None:
    with h5py.File(write(tmp_path / "a.hdf5", turned_demos(1, image_size=8), STACK)) as file:
        assert file["data/demo_0/obs/agentview_image"].chunks == (1, 8, 8, 3)


def test_what_robomimic_asks_for(tmp_path: Path) -> None:
    demos = turned_demos(2)
    with h5py.File(write(tmp_path / "a.hdf5", demos, STACK)) as file:
        group = file["data/demo_1"]
        np.testing.assert_allclose(group["obs/robot0_eef_pos"][()], demos[1].eef_position + BASE_M, atol=1e-15)
        np.testing.assert_allclose(group["obs/object_position"][()], demos[1].object_position + BASE_M, atol=1e-15)
        assert group["dones"][()].tolist() == group["rewards"][()].tolist() == [0] * (len(demos[1]) - 1) + [1]
        assert file["data"].attrs["total"] == sum(map(len, demos))
        args = json.loads(file["data"].attrs["env_args"])
        assert (args["env_name"], args["env_version"], args["type"]) == ("Stack_D0", "1.4.1", 1)
        assert args["env_kwargs"]["controller_configs"]["control_delta"] is True


@pytest.mark.parametrize("version", ["1.4.1", "1.5.2"])
def test_env_args_follow_the_actions(tmp_path: Path, version: str) -> None:
    """Goals under `env_args` of increments would be run as increments, and in another frame in robosuite 1.4."""
    raw = write_raw(tmp_path / "raw.hdf5", turned_demos(1), args=env_args("Stack", version))
    demos, info = read(raw)
    goals = [to_absolute(demo) for demo in demos]
    path = write(tmp_path / "goals.hdf5", goals, dataclasses.replace(info, action_spec=goals[0].action_spec))

    with h5py.File(path) as file:
        configs = json.loads(file["data"].attrs["env_args"])["env_kwargs"]["controller_configs"]
        stored = file["data/demo_0/actions"][()]
    if version == "1.4.1":
        assert configs["control_delta"] is False
        np.testing.assert_allclose(stored[:, :3], goals[0].actions[:, :3] + BASE_M, atol=1e-15)
    else:
        arm = configs["body_parts"]["right"]
        assert (arm["input_type"], arm["input_ref_frame"], arm["kp"]) == ("absolute", "base", 150)
        np.testing.assert_array_equal(stored, goals[0].actions)
    assert_same(read(path)[0][0], goals[0])
    with h5py.File(path, "a") as file:  # and a reader who knows nothing of sido's own description gets the same
        del file["data"].attrs["sido"]
    assert_same(read(path)[0][0], goals[0])


def test_the_demonstration_is_believed_over_what_it_carries(tmp_path: Path) -> None:
    """A demonstration that was changed must not be read back as what it was made from."""
    demos, info = read(write_raw(tmp_path / "raw.hdf5", turned_demos(1)))
    demo = demos[0]
    assert demo.object_position is not None
    changed = dataclasses.replace(
        demo,
        eef_position=demo.eef_position + 0.01,
        eef_quat_wxyz=np.roll(demo.eef_quat_wxyz, 1, axis=1),
        gripper=demo.gripper * 0.5,
        object_position=demo.object_position + np.array([0.02, 0.0, 0.0]),
        subtask_signals={"grasp": np.roll(demo.subtask_signals["grasp"], 3)},
    )
    found, _info = read(write(tmp_path / "changed.hdf5", [changed], info))
    assert_same(found[0], changed)


def test_masks_name_what_was_written(tmp_path: Path) -> None:
    demos = turned_demos(3)
    info = dataclasses.replace(STACK, filter_keys={"train": ("demo_0", "demo_2"), "valid": ("demo_1",), "gone": ("x",)})
    _demos, found = read(write(tmp_path / "a.hdf5", [demos[0], demos[2]], info))
    assert dict(found.filter_keys) == {"train": ("demo_0", "demo_2")}


def test_foreign_names_become_robomimics(tmp_path: Path) -> None:
    demos = [dataclasses.replace(demo, name=name) for demo, name in zip(turned_demos(2), ("a/b", "c"), strict=True)]
    info = dataclasses.replace(STACK, filter_keys={"all": ("a/b", "c")})
    found, found_info = read(write(tmp_path / "a.hdf5", demos, info))
    assert [demo.name for demo in found] == ["demo_0", "demo_1"]
    assert dict(found_info.filter_keys) == {"all": ("demo_0", "demo_1")}


def _write_and_stop(path: Path) -> None:
    with RobomimicWriter(path, STACK) as writer:
        writer.write(turned_demos(1)[0])
        raise KeyboardInterrupt


def test_a_broken_writing_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.hdf5"
    with pytest.raises(KeyboardInterrupt):
        _write_and_stop(path)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(DataError, match=r"a.hdf5: no demonstration was written"), RobomimicWriter(path, STACK):
        pass
    assert list(tmp_path.iterdir()) == []


def test_an_existing_file_is_kept_until_the_end(tmp_path: Path) -> None:
    demos = turned_demos(2)
    path = write(tmp_path / "a.hdf5", demos, STACK)
    with pytest.raises(SettingError, match=r"a.hdf5: already exists"), RobomimicWriter(path, STACK):
        pass
    with RobomimicWriter(path, STACK, overwrite=True) as writer:
        writer.write(demos[1])
        assert len(read(path)[0]) == 2
    assert [demo.name for demo in read(path)[0]] == ["demo_1"]


def test_what_cannot_be_written_says_why(tmp_path: Path) -> None:
    demo = turned_demos(1)[0]
    with pytest.raises(DataError, match=r"action specs of the dataset and demo_0 differ"):
        write(tmp_path / "a.hdf5", [to_absolute(demo)], STACK)
    with pytest.raises(DataError, match=r"a.hdf5 > demo_0: two demonstrations have one name"):
        write(tmp_path / "a.hdf5", [demo, demo], STACK)
    clash = dataclasses.replace(demo, recorded={"x": np.zeros((len(demo), 1)), "x/y": np.zeros((len(demo), 1))})
    with pytest.raises(DataError, match=r"a.hdf5 > demo_0: cannot be written as HDF5"):
        write(tmp_path / "a.hdf5", [clash], STACK)
    assert list(tmp_path.iterdir()) == []
