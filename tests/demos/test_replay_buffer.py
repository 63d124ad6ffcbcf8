"""diffusion_policy's zarr, judged by a reader and a writer of zarr version 2 that know nothing of the zarr library."""

from __future__ import annotations

import dataclasses
import itertools
import json
import pickle
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import imagecodecs
import numcodecs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from memory_source import memory_dataset, synthetic_demos
from sido.demos import create_dataset, open_dataset
from sido.demos.action_spec import ACTION_SPECS, ActionSpec
from sido.demos.demo import Demo, Grasp
from sido.demos.frames import Frames
from sido.demos.replay_buffer import ReplayBufferSource, ReplayBufferWriter
from sido.demos.source import DatasetInfo, Environment, Hints
from sido.demos.synthetic import reach_and_lift
from sido.errors import DataError, SettingError
from sido.geometry import Pose

# --- zarr version 2 by hand: https://zarr-specs.readthedocs.io/en/latest/v2/v2.0.html ---


def raw_read(folder: Path) -> np.ndarray:
    """An array from its `.zarray` and its chunk files."""
    about = json.loads((folder / ".zarray").read_text())
    assert about["zarr_format"] == 2
    assert about["order"] == "C"
    assert about["filters"] is None
    codec = None if about["compressor"] is None else numcodecs.get_codec(about["compressor"])
    dtype, shape, chunks = np.dtype(about["dtype"]), about["shape"], about["chunks"]
    array = np.zeros(shape, dtype)
    assert about["fill_value"] in (0, False, None)
    counts = [range(-(-size // chunk)) for size, chunk in zip(shape, chunks, strict=True)]
    for place in itertools.product(*counts):
        file = folder / ".".join(map(str, place))
        if file.exists():
            stored = file.read_bytes()
            chunk = np.frombuffer(codec.decode(stored) if codec else stored, dtype).reshape(chunks)
            where = tuple(slice(at * size, (at + 1) * size) for at, size in zip(place, chunks, strict=True))
            array[where] = chunk[tuple(slice(0, size) for size in array[where].shape)]
    return array


def raw_write(folder: Path, array: np.ndarray, *, jpeg2k: bool = False) -> None:
    """One chunk for the whole array, or one JPEG 2000 file for each image, as diffusion_policy imports them."""
    folder.mkdir(parents=True)
    codec = {"id": "imagecodecs_jpeg2k", "level": 0, "codecformat": None, "colorspace": None, "tile": None}
    codec |= {"reversible": True, "bitspersample": None, "resolutions": None, "numthreads": None, "verbose": None}
    about = {
        "zarr_format": 2,
        "shape": list(array.shape),
        "chunks": [1, *array.shape[1:]] if jpeg2k else [max(1, size) for size in array.shape],
        "dtype": array.dtype.str,
        "order": "C",
        "filters": None,
        "fill_value": 0,
        "compressor": codec if jpeg2k else None,
    }
    (folder / ".zarray").write_text(json.dumps(about))
    if jpeg2k:
        for index, image in enumerate(array):
            stored = imagecodecs.jpeg2k_encode(np.ascontiguousarray(image), level=0, reversible=True)
            (folder / f"{index}.0.0.0").write_bytes(stored)
    else:
        (folder / ".".join("0" * array.ndim)).write_bytes(array.tobytes())


def raw_dataset(folder: Path, data: dict[str, np.ndarray], ends: Any) -> Path:
    for group in (folder, folder / "data", folder / "meta"):
        group.mkdir(parents=True)
        (group / ".zgroup").write_text('{"zarr_format": 2}')
    for key, array in data.items():
        raw_write(folder / "data" / key, array, jpeg2k=array.ndim == 4)
    raw_write(folder / "meta" / "episode_ends", np.asarray(ends))
    return folder


def zipped(folder: Path) -> Path:
    return Path(shutil.make_archive(str(folder), "zip", folder))


# --- datasets ---

INFO = DatasetInfo(
    "robomimic HDF5",
    ACTION_SPECS["osc-delta"],
    cameras=("agentview", "robot0_eye_in_hand"),
    environment=Environment("Stack_D0", "1.4.1", '{"type": 1}'),
    world_from_base=Pose([-0.56, 0.0, 0.912], [1.0, 0.0, 0.0, 0.0]),
    object_position_source="datagen_info/object_poses/cubeA",
    filter_keys={"train": ("pick", "demo_1"), "valid": ("demo_7",)},
)


def rich_demos() -> list[Demo]:
    """Different lengths, odd names, things that only some of them recorded."""
    demos: list[Demo] = []
    for index, name in enumerate(("pick", "demo_1", "demo_7")):
        rng = np.random.default_rng(index)
        demo = reach_and_lift(rng, name=name, steps=60 + 5 * index, grasp_step=40, image_size=12)
        length = len(demo)
        recorded = {
            "obs/object": rng.normal(size=(length, 23)),
            "states": rng.normal(size=(length, 45)).astype(">f8"),
            "obs/robot0_eef_pos": rng.normal(size=(length, 3)),
            "datagen_info/target_pose": rng.normal(size=(length, 4, 4)).astype(np.float32),
            "datagen info.target_pose": np.arange(length, dtype=np.int16),
            "label": np.full(length, "grün"),
            "bytes": np.full(length, b"ab\x00c"),
            "done": rng.integers(0, 2, length).astype(bool),
            "nothing": np.zeros((length, 0), np.float32),
            "obs/depth": rng.normal(size=(length, 6, 6, 1)).astype(np.float16),
        }
        if index == 1:
            recorded = {"only here": np.arange(2 * length).reshape(length, 2), "states": recorded["states"]}
        demos.append(
            dataclasses.replace(
                demo,
                grasp=Grasp(40 + index, "subtask signal 'grasp'", window_start=index) if index else None,
                metadata={"model_file": "<mujoco>ü</mujoco>" * 9, "ep_meta": "{}"} if index != 1 else {},
                task=f"lift the cube {index}",
                subtask_signals={**demo.subtask_signals, "open/wide": np.arange(length) > 9} if index == 2 else {},
                recorded=recorded,
            )
        )
    return demos


def write(path: Path, demos: list[Demo], info: DatasetInfo = INFO, **options: Any) -> Path:
    with ReplayBufferWriter(path, info, **options) as writer:
        for demo in demos:
            writer.write(demo)
    return path


def require_same(found: Demo, written: Demo) -> None:
    assert (found.name, found.task, found.grasp) == (written.name, written.task, written.grasp)
    assert dict(found.metadata) == dict(written.metadata)
    assert found.action_spec == written.action_spec
    for name in ("actions", "eef_position", "eef_quat_wxyz", "gripper", "object_position"):
        np.testing.assert_array_equal(getattr(found, name), getattr(written, name).astype(np.float32), err_msg=name)
    for name in ("recorded", "subtask_signals"):
        assert set(getattr(found, name)) == set(getattr(written, name))
        for key, array in getattr(written, name).items():
            np.testing.assert_array_equal(getattr(found, name)[key], array, err_msg=key)
            assert getattr(found, name)[key].dtype == array.dtype
    assert set(found.images) == set(written.images)
    for camera, frames in written.images.items():
        np.testing.assert_array_equal(found.images[camera][:], frames[:])


@pytest.fixture(scope="module")
def demos() -> list[Demo]:
    return rich_demos()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, demos: list[Demo]) -> Path:
    return write(tmp_path_factory.mktemp("written") / "rich.zarr", demos)


# --- what is written ---


@pytest.mark.parametrize("name", ["rich.zarr", "rich.zarr.zip"])
def test_everything_comes_back(tmp_path: Path, demos: list[Demo], name: str):
    source = ReplayBufferSource(write(tmp_path / "new" / name, demos))
    assert source.names == ("pick", "demo_1", "demo_7")
    assert [source.length(index) for index in range(3)] == [60, 65, 70]
    for index in (2, 0, 1):
        require_same(source.read(index), demos[index])
    assert source.info == dataclasses.replace(INFO, format="diffusion_policy zarr")
    source.close()
    assert [path.name for path in (tmp_path / "new").iterdir()] == [name]


def test_the_comparison_above_can_fail(folder: Path, demos: list[Demo]):
    found = ReplayBufferSource(folder).read(0)
    require_same(found, demos[0])
    states = {**demos[0].recorded, "states": demos[0].recorded["states"] + 1}
    for change in (
        {"recorded": states},
        {"task": ""},
        {"metadata": {}},
        {"gripper": demos[0].gripper + 1},
        {"images": {}},
    ):
        with pytest.raises(AssertionError):
            require_same(found, dataclasses.replace(demos[0], **change))


def test_files_are_what_diffusion_policy_expects(folder: Path, demos: list[Demo]):
    """`ReplayBuffer.__init__` asserts the lengths; `copy_from_store` takes every key of `data` for an array."""
    ends = raw_read(folder / "meta" / "episode_ends")
    assert ends.dtype == np.int64
    np.testing.assert_array_equal(ends, np.cumsum([len(demo) for demo in demos]))
    arrays = {path.name: raw_read(path) for path in (folder / "data").iterdir() if path.is_dir()}
    assert {len(array) for array in arrays.values()} == {ends[-1]}
    assert not list((folder / "data").glob("*/.zgroup"))
    for key, expected in {
        "action": np.concatenate([demo.actions for demo in demos]),
        "robot0_eef_pos": np.concatenate([demo.eef_position for demo in demos]),
        "robot0_eef_quat": np.concatenate([demo.eef_quat_wxyz for demo in demos])[:, [1, 2, 3, 0]],
        "robot0_gripper_qpos": np.concatenate([demo.gripper for demo in demos]),
        "object_position": np.concatenate([demo.object_position for demo in demos]),
    }.items():
        assert arrays[key].dtype == np.float32
        np.testing.assert_array_equal(arrays[key], expected.astype(np.float32), err_msg=key)
    for camera in ("agentview", "robot0_eye_in_hand"):
        images = np.concatenate([demo.images[camera][:] for demo in demos])
        np.testing.assert_array_equal(arrays[f"{camera}_image"], images)
        assert json.loads((folder / f"data/{camera}_image/.zarray").read_text())["chunks"] == [1, 12, 12, 3]
    vectors = [demo.recorded.get("obs/object", np.zeros((len(demo), 23))) for demo in demos]
    np.testing.assert_array_equal(arrays["object"], np.concatenate(vectors))


def test_a_zip_holds_the_files_of_the_folder(tmp_path: Path, folder: Path, demos: list[Demo]):
    with zipfile.ZipFile(write(tmp_path / "rich.zarr.zip", demos)) as archive:
        assert archive.testzip() is None
        files = {name: archive.read(name) for name in archive.namelist()}
    assert files == {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def test_any_images_in_any_order(folder: Path, demos: list[Demo]):
    source = ReplayBufferSource(folder)
    read = [source.read(index).images["agentview"] for index in range(3)]

    @settings(max_examples=30, deadline=None)
    @given(st.integers(0, 2), st.lists(st.integers(-60, 59), max_size=6))
    def law(index: int, steps: list[int]) -> None:
        expected = demos[index].images["agentview"][:]
        np.testing.assert_array_equal(read[index][np.array(steps, dtype=np.int64)], expected[steps])

    law()


def test_only_the_images_that_are_asked_for_are_read(tmp_path: Path, folder: Path, demos: list[Demo]):
    copy = shutil.copytree(folder, tmp_path / "copy.zarr")
    for step in range(60, 125):  # all of demo_1
        if step != 70:
            (copy / f"data/agentview_image/{step}.0.0.0").write_bytes(b"broken")
    frames = ReplayBufferSource(copy).read(1).images["agentview"]
    np.testing.assert_array_equal(frames[10], demos[1].images["agentview"][10])
    with pytest.raises(DataError, match=r"copy\.zarr > data/agentview_image: cannot be read as zarr; found \w+"):
        _ = frames[11]


def test_cameras_can_be_chosen(folder: Path):
    source = ReplayBufferSource(folder, Hints(cameras=("robot0_eye_in_hand",)))
    assert source.info.cameras == tuple(source.read(0).images) == ("robot0_eye_in_hand",)
    assert not ReplayBufferSource(folder, Hints(cameras=())).read(0).images
    with pytest.raises(SettingError, match=r"no such camera; found \['top'\]; expected some of \['agentview', "):
        ReplayBufferSource(folder, Hints(cameras=("top",)))


def test_hints_have_the_last_word(folder: Path, demos: list[Demo]):
    spec = dataclasses.replace(ACTION_SPECS["osc-delta"], rate_hz=10.0)
    source = ReplayBufferSource(folder, Hints(action_spec=spec, object_key="obs/robot0_eef_pos"))
    assert source.info.action_spec == source.read(0).action_spec == spec
    assert source.info.object_position_source == "data/robot0_eef_pos_2"
    np.testing.assert_array_equal(source.read(0).object_position, demos[0].recorded["obs/robot0_eef_pos"])
    with pytest.raises(SettingError, match="no such array with an object position; found obs/cube; expected one of"):
        ReplayBufferSource(folder, Hints(object_key="obs/cube"))


# --- what is refused while writing ---


def test_a_demonstration_that_is_refused_is_left_out(tmp_path: Path, demos: list[Demo]):
    first, second, third = demos

    def broken(steps: np.ndarray) -> np.ndarray:
        raise DataError("the camera was off")

    unreadable = {name: Frames(frames.shape, broken) for name, frames in second.images.items()}
    smaller = {name: Frames.of_array(frames[:][:, :6]) for name, frames in second.images.items()}
    refused: list[tuple[Demo, str]] = [
        (dataclasses.replace(second, name="pick"), "two demonstrations of this name"),
        (dataclasses.replace(second, images={}), "differ in what they show; found no camera, object position"),
        (dataclasses.replace(second, object_position=None), "no object position; expected camera 'agentview',"),
        (dataclasses.replace(second, recorded={"states": np.zeros((65, 9))}), r"states: .* found float64\['T', 9\]"),
        (dataclasses.replace(second, recorded={"x": np.array([{}] * 65)}), "x: this kind of data cannot be stored"),
        (
            dataclasses.replace(second, action_spec=ACTION_SPECS["osc-absolute"]),
            "the action specs of .* differ",
        ),
        (dataclasses.replace(second, images=unreadable), "the camera was off"),
        (dataclasses.replace(second, images=smaller), r"agentview_image: .* found uint8\['T', 6, 12, 3\]"),
    ]
    path = tmp_path / "new.zarr"
    with ReplayBufferWriter(path, INFO) as writer:
        writer.write(first)
        for demo, message in refused:
            with pytest.raises(DataError, match=message) as caught:
                writer.write(demo)
            assert str(caught.value).startswith(f"{path} > {demo.name}")
        writer.write(third)
    source = ReplayBufferSource(path)
    assert source.names == ("pick", "demo_7")
    require_same(source.read(0), first)
    require_same(source.read(1), third)


@pytest.mark.parametrize("name", ["new.zarr", "new.zarr.zip"])
def test_a_dataset_that_fails_leaves_nothing_behind(tmp_path: Path, demos: list[Demo], name: str):
    demos = [dataclasses.replace(demo, images={}, recorded={}) for demo in demos]

    def stopped() -> None:
        with ReplayBufferWriter(tmp_path / name, INFO) as writer:
            writer.write(demos[0])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    with pytest.raises(DataError, match="at least one demonstration"):
        write(tmp_path / name, [])
    assert list(tmp_path.iterdir()) == []
    write(tmp_path / name, demos[:1])
    with pytest.raises(SettingError, match="already exists"):
        write(tmp_path / name, demos)
    assert ReplayBufferSource(write(tmp_path / name, demos, overwrite=True)).names == ("pick", "demo_1", "demo_7")
    assert [path.name for path in tmp_path.iterdir()] == [name]
    with pytest.raises(SettingError, match=r"expected an ending \.zarr or \.zarr\.zip"):
        ReplayBufferWriter(tmp_path / "new.h5", INFO)
    with pytest.raises(SettingError, match="the writer is not open"):
        ReplayBufferWriter(tmp_path / "other.zarr", INFO).write(demos[0])


# --- what others wrote ---


def robomimic_import(rng: np.random.Generator, steps: int = 20, action: int = 10) -> dict[str, np.ndarray]:
    """The keys and types that diffusion_policy's `_convert_robomimic_to_replay` leaves behind."""
    quat = Rotation.random(steps, random_state=3).as_quat()  # xyzw
    return {
        "action": rng.uniform(-1, 1, (steps, action)).astype(np.float32),
        "robot0_eef_pos": rng.normal(size=(steps, 3)).astype(np.float32),
        "robot0_eef_quat": quat.astype(np.float32),
        "robot0_gripper_qpos": rng.normal(size=(steps, 2)).astype(np.float32),
        "object": rng.normal(size=(steps, 23)).astype(np.float32),
        "agentview_image": rng.integers(0, 256, (steps, 16, 16, 3), dtype=np.uint8),
        "robot0_eye_in_hand_image": rng.integers(0, 256, (steps, 16, 16, 3), dtype=np.uint8),
    }


@pytest.mark.parametrize("packed", [False, True])
def test_a_robomimic_import_with_its_jpeg2000_images(tmp_path: Path, packed: bool):
    data = robomimic_import(np.random.default_rng(0))
    path = raw_dataset(tmp_path / "image_abs.zarr", data, [7, 20])
    source = ReplayBufferSource(zipped(path) if packed else path)
    assert source.names == ("demo_0", "demo_1")
    assert (source.length(0), source.length(1)) == (7, 13)
    assert source.info.action_spec == ACTION_SPECS["rot6d-absolute"]
    assert source.info.cameras == ("agentview", "robot0_eye_in_hand")
    assert source.info.object_position_source is None
    for expected in ("taken as 'rot6d-absolute' (10 numbers", "base frame", "wrist's", "--object-key"):
        assert any(expected in warning for warning in source.info.warnings), expected
    demo = source.read(1)
    np.testing.assert_array_equal(demo.actions, data["action"][7:])
    np.testing.assert_array_equal(demo.eef_position, data["robot0_eef_pos"][7:])
    np.testing.assert_allclose(
        Rotation.from_quat(demo.eef_quat_wxyz[:, [1, 2, 3, 0]]).as_matrix(),
        Rotation.from_quat(data["robot0_eef_quat"][7:]).as_matrix(),
    )
    np.testing.assert_array_equal(demo.images["agentview"][:], data["agentview_image"][7:])
    np.testing.assert_array_equal(demo.recorded["object"], data["object"][7:])
    assert set(demo.recorded) == {"object"}
    assert demo.object_position is None
    assert demo.grasp is None
    source.close()


def test_the_object_that_a_person_names(tmp_path: Path):
    data = robomimic_import(np.random.default_rng(0))
    path = raw_dataset(tmp_path / "x.zarr", data, [20])
    for key in ("object", "obs/object"):
        source = ReplayBufferSource(path, Hints(object_key=key))
        np.testing.assert_array_equal(source.read(0).object_position, data["object"][:, :3])
        assert source.info.object_position_source == "data/object"


@pytest.mark.parametrize(("scale", "expected"), [(1.0, "osc-delta"), (1.5, "osc-absolute")])
def test_seven_numbers_are_told_apart_by_their_range(tmp_path: Path, scale: float, expected: str):
    data = robomimic_import(np.random.default_rng(0), action=7)
    data["action"][:, :6] *= scale
    source = ReplayBufferSource(raw_dataset(tmp_path / "x.zarr", data, [20]))
    assert source.info.action_spec == source.read(0).action_spec == ACTION_SPECS[expected]
    assert any(f"taken as {expected!r} (7 numbers" in warning for warning in source.info.warnings)
    hinted = ReplayBufferSource(tmp_path / "x.zarr", Hints(action_spec=ActionSpec("absolute", position_scale_m=2.0)))
    assert hinted.read(0).action_spec.position_scale_m == 2.0
    assert not any("taken as '" in warning for warning in hinted.info.warnings)


def test_recordings_of_real_robots(tmp_path: Path):
    """diffusion_policy's `RealEnv` names the pose `robot_eef_pose`; UMI splits it, and has the gripper's width."""
    rng = np.random.default_rng(1)
    rotvec = rng.normal(size=(9, 3))
    own = {
        "action": rng.normal(size=(9, 7)),
        "robot_eef_pose": np.concatenate([rng.normal(size=(9, 3)), rotvec], axis=1),
        "gripper_position": rng.uniform(size=9),
        "timestamp": np.arange(9.0),
        "camera_0": rng.integers(0, 256, (9, 16, 16, 3), dtype=np.uint8),
    }
    own["action"][:, -1] = 0.5
    umi = {
        "action": own["action"],
        "robot0_eef_pos": own["robot_eef_pose"][:, :3].astype(np.float32),
        "robot0_eef_rot_axis_angle": rotvec.astype(np.float32),
        "robot0_gripper_width": rng.uniform(size=(9, 1)).astype(np.float32),
        "robot0_demo_start_pose": rng.normal(size=(9, 6)),
        "camera0_rgb": own["camera_0"],
    }
    for data, camera, gripper, rest in (
        (own, "camera_0", "gripper_position", {"timestamp"}),
        (umi, "camera0_rgb", "robot0_gripper_width", {"robot0_demo_start_pose"}),
    ):
        source = ReplayBufferSource(raw_dataset(tmp_path / f"{camera}.zarr", data, [9]))
        demo = source.read(0)
        np.testing.assert_allclose(demo.eef_position, own["robot_eef_pose"][:, :3], rtol=1e-6)
        expected = Rotation.from_rotvec(rotvec).as_matrix()
        np.testing.assert_allclose(
            Rotation.from_quat(demo.eef_quat_wxyz[:, [1, 2, 3, 0]]).as_matrix(), expected, atol=1e-6
        )
        np.testing.assert_array_equal(demo.gripper, np.asarray(data[gripper], dtype=np.float64).reshape(9, 1))
        assert set(demo.recorded) == rest
        assert source.info.cameras == (camera,)
        assert not any("wrist" in warning for warning in source.info.warnings)


# --- what is no such dataset ---


def without(key: str) -> Callable[[dict[str, np.ndarray]], Any]:
    return lambda data: data.pop(key)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (without("action"), "data: an array is missing; found .* expected action; to mend it: sido needs"),
        (
            without("robot0_eef_pos"),
            "the position of the end-effector is missing; .* expected robot0_eef_pos or",
        ),
        (without("robot0_eef_quat"), "the orientation of the end-effector is missing"),
        (without("robot0_gripper_qpos"), "the state of the gripper is missing; .* expected robot0_gripper_qpos"),
        (
            lambda d: d.update(action=d["action"][:, :2]),
            "data/action: these actions move a point in the plane; .*Push-T",
        ),
        (
            lambda d: d.update(action=d["action"][:, :, None]),
            r"data/action: wrong shape; found \[20, 10, 1\]; expected \[N, A\]",
        ),
        (lambda d: d.update(action=d["action"][:, 0]), r"data/action: wrong shape; found \[20\]; expected \[N, A\]"),
        (
            lambda d: d.update(action=d["action"][:, :6]),
            "not clear what the actions mean; found 6 numbers; .*--action-spec",
        ),
        (
            lambda d: d.update(object=d["object"][:-1]),
            "data/object: the array does not end .* found 19 rows; expected 20",
        ),
        (lambda d: d.update(robot0_eef_pos=d["robot0_eef_pos"] * np.nan), "demo_0 > eef_position: not a finite number"),
        (
            lambda d: d.update(robot0_eef_quat=d["robot0_eef_quat"][:, :3]),
            r"robot0_eef_quat: wrong shape; found \[20, 3\]",
        ),
        (
            lambda d: d.update(robot0_eef_pos=np.zeros((20, 3, 1))),
            r"data/robot0_eef_pos: wrong .*64\[20, 3, 1\]",
        ),
        (
            lambda d: d.update(robot_eef_pose=np.zeros((20, 7)), p=d.pop("robot0_eef_pos")),
            r"data/robot_eef_pose: wrong shape; found \[20, 7\]",
        ),
    ],
)
def test_data_that_does_not_do(tmp_path: Path, damage: Callable[[dict[str, np.ndarray]], Any], message: str):
    data = robomimic_import(np.random.default_rng(0))
    damage(data)
    path = raw_dataset(tmp_path / "bad.zarr", data, [20])
    with pytest.raises(DataError, match=message) as caught:
        ReplayBufferSource(path).read(0)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("ends", "message"),
    [
        (np.zeros(0, dtype=np.int64), "there are no episodes"),
        ([7, 7, 20], "episode ends must increase; found 7 for episode 1; expected more than 7"),
        ([0, 20], "episode ends must increase; found 0 for episode 0; expected more than 0"),
        ([7, 19], "data/action: the array does not end where the last episode does; found 20 rows; expected 19"),
        ([7.0, 20.0], r"episode_ends: wrong shape or type; found float64\[2\]"),
    ],
)
def test_episode_ends_that_do_not_do(tmp_path: Path, ends: Any, message: str):
    path = raw_dataset(tmp_path / "bad.zarr", robomimic_import(np.random.default_rng(0)), ends)
    with pytest.raises(DataError, match=message):
        ReplayBufferSource(path)


def test_files_that_are_no_replay_buffer(tmp_path: Path, folder: Path, demos: list[Demo]):
    def refuses(path: Path, message: str) -> None:
        with pytest.raises(DataError, match=message) as caught:
            ReplayBufferSource(path)
        assert str(caught.value).startswith(f"{path}")

    refuses(tmp_path / "absent.zarr", "no such file or folder")
    (tmp_path / "empty.zarr").mkdir()
    refuses(tmp_path / "empty.zarr", "cannot be read as zarr; found GroupNotFoundError")
    (tmp_path / "text.zarr").write_text("not a folder")
    refuses(tmp_path / "text.zarr", "cannot be read as zarr")
    whole = zipped(folder).read_bytes()
    (tmp_path / "cut.zarr.zip").write_bytes(whole[: len(whole) // 2])
    refuses(tmp_path / "cut.zarr.zip", "not a zip file, or cut short")
    for gone, message in (("data", "no group 'data'"), ("meta", "no group 'meta'"), ("meta/episode_ends", "missing")):
        copy = shutil.copytree(folder, tmp_path / f"without-{gone.replace('/', '-')}.zarr")
        shutil.rmtree(copy / gone)
        refuses(copy, message)
    for file in (".zgroup", "data/action/.zarray"):
        copy = shutil.copytree(folder, tmp_path / f"garbled{file.replace('/', '-')}.zarr")
        (copy / file).write_text("{")
        refuses(copy, "cannot be read as zarr; found")


def test_annotations_that_do_not_fit(tmp_path: Path, folder: Path, demos: list[Demo]):
    """After an episode was dropped, or a byte was lost, the annotations must not be believed."""
    path = raw_dataset(tmp_path / "dropped.zarr", robomimic_import(np.random.default_rng(0), action=7), [7, 20])
    for key in ("sido", "sido_ends"):
        shutil.copytree(folder / "meta" / key, path / "meta" / key)
    with pytest.raises(
        DataError, match=r"meta/sido: sido's annotations do not fit the dataset; found 3 names; expected 2"
    ):
        ReplayBufferSource(path)
    shutil.rmtree(path / "meta" / "episode_ends")
    raw_write(path / "meta" / "episode_ends", np.array([7, 11, 20]))
    with pytest.raises(DataError, match="found 60 steps; expected 7, as many as the episode has"):
        ReplayBufferSource(path).read(0)
    for key in ("sido", "sido_ends"):
        shutil.rmtree(path / "meta" / key)
    assert ReplayBufferSource(path).names == ("demo_0", "demo_1", "demo_2")

    copy = shutil.copytree(folder, tmp_path / "lost.zarr")
    stored = raw_read(copy / "meta" / "sido").copy()
    stored[-5:] = ord("x")
    shutil.rmtree(copy / "meta" / "sido")
    raw_write(copy / "meta" / "sido", stored)
    with pytest.raises(DataError, match=r"sido's annotations do not fit .*; found not JSON; found Unterminated"):
        ReplayBufferSource(copy)


@pytest.mark.parametrize(
    ("absent", "said"),
    [
        ("zarr", "reading and writing diffusion_policy's zarr needs the package 'zarr'"),
        ("imagecodecs", "reading data .*imagecodecs_jpeg2k.* needs the package 'imagecodecs'"),
    ],
)
def test_what_is_not_installed_is_named(tmp_path: Path, absent: str, said: str):
    path = raw_dataset(tmp_path / "x.zarr", robomimic_import(np.random.default_rng(0)), [20])
    program = f"""
import sys
sys.modules[{absent!r}] = None
try:
    from sido.demos.replay_buffer import ReplayBufferSource
    ReplayBufferSource({str(path)!r})
except ImportError as error:
    print(error)
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert re.match(rf"({re.escape(str(path))}: )?{said}, which is not installed", found)
    assert found.endswith("to mend it: pip install 'sido[data]'\n")


@pytest.mark.parametrize("place", ["compressor", "filters"])
@pytest.mark.parametrize("dtype", ["<f4", "|O"])
def test_a_pickle_in_a_zarr_is_refused_and_never_loaded(tmp_path: Path, place: str, dtype: str) -> None:
    path = tmp_path / "evil.zarr"
    with create_dataset(path, memory_dataset(synthetic_demos(1)).info) as writer:
        writer.write(synthetic_demos(1)[0])
    folder, witness = path / "data" / "action", tmp_path / "witness"
    header = json.loads((folder / ".zarray").read_text())
    pickled = {"id": "pickle", "protocol": 5}
    header |= {
        "dtype": dtype,
        "filters": None,
        "compressor": None,
        place: pickled if place == "compressor" else [pickled],
    }
    (folder / ".zarray").write_text(json.dumps(header))
    payload = f"cposix\nmkdir\n(V{witness}\ntR."  # protocol 0, by hand: loading it makes a folder
    pickle.loads(payload.encode())
    witness.rmdir()
    for chunk in folder.glob("[0-9]*"):
        chunk.write_text(payload)
    with pytest.raises(DataError, match="cannot be read as zarr"), open_dataset(path) as dataset:
        dataset[0]
    assert not witness.exists()
