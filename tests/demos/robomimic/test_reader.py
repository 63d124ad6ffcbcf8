"""What is read is what was recorded, in metres and the base frame, from every variant of the file."""

from __future__ import annotations

import dataclasses
import json
import multiprocessing
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import torch

from demos.robomimic.raw_file import (
    B_FROM_A_M,
    BASE_M,
    MODEL,
    OSC_1_4,
    OSC_1_5,
    env_args,
    turned_demos,
    with_controller,
    write_raw,
)
from sido.demos import ChunkSampler, Grasp, create_dataset, open_dataset
from sido.demos.absolute import to_absolute
from sido.demos.action_spec import ACTION_SPECS, ActionSpec
from sido.demos.demo import Demo
from sido.demos.robomimic import RobomimicSource
from sido.demos.source import FROM_GRASP, Hints
from sido.errors import DataError
from sido.geometry import Pose, quat_angle

OSC = ACTION_SPECS["osc-delta"]


def assert_same(found: Demo, expected: Demo, *, turned: float = 1e-12) -> None:
    for name in ("actions", "eef_position", "gripper", "object_position"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=0, atol=1e-12, err_msg=name)
    assert quat_angle(found.eef_quat_wxyz, expected.eef_quat_wxyz).max() <= turned


def delete(*paths: str) -> Callable[[h5py.File], None]:
    def change(file: h5py.File) -> None:
        for name in file["data"]:
            for path in paths:
                del file[f"data/{name}/{path}"]

    return change


def test_a_mimicgen_file(tmp_path: Path) -> None:
    demos = turned_demos(image_size=8)
    source = RobomimicSource(write_raw(tmp_path / "a.hdf5", demos), Hints())

    assert source.info.action_spec == OSC
    assert source.info.cameras == ("agentview", "robot0_eye_in_hand")
    assert source.info.environment is not None
    assert (source.info.environment.name, source.info.environment.version) == ("Stack_D0", "1.4.1")
    assert source.info.world_from_base == Pose(BASE_M, (1.0, 0.0, 0.0, 0.0))
    assert source.info.object_position_source == "datagen_info/object_poses/cubeA"
    assert source.info.filter_keys == {}
    assert source.info.warnings == ()
    for index, expected in enumerate(demos):
        found = source.read(index)
        assert_same(found, expected)
        np.testing.assert_array_equal(found.subtask_signals["grasp"], expected.subtask_signals["grasp"])
        np.testing.assert_array_equal(found.images["agentview"][:], expected.images["agentview"][:])
        assert found.metadata["model_file"] == MODEL
        assert found.metadata["datagen_info/@env_interface_name"] == "MG_Stack"
        assert json.loads(found.metadata["dataset:src_demo_inds"])["values"] == [3, 1]


def test_what_is_recorded_is_verbatim(tmp_path: Path) -> None:
    path = write_raw(tmp_path / "a.hdf5", turned_demos(1, image_size=8), robomimic_extras=True)
    found = RobomimicSource(path, Hints()).read(0)

    assert set(found.recorded) == {
        "states", "rewards", "dones", "actions_abs",
        "obs/object", "obs/robot0_eef_pos", "obs/robot0_eef_quat", "obs/robot0_gripper_qpos", "obs/robot0_joint_pos",
        "datagen_info/eef_pose", "datagen_info/object_poses/cubeA", "datagen_info/object_poses/cubeB",
        "datagen_info/subtask_term_signals/grasp", "datagen_info/gripper_action",
    }  # fmt: skip
    with h5py.File(path) as file:
        for key, array in found.recorded.items():
            raw = file[f"data/demo_0/{key}"]
            assert array.dtype == raw.dtype
            np.testing.assert_array_equal(array, raw[()])
    assert found.task == "put the red cube on the green one"


def test_a_robomimic_file_with_everything(tmp_path: Path) -> None:
    path = write_raw(tmp_path / "a.hdf5", turned_demos(12), robomimic_extras=True, annotated=False)
    source = RobomimicSource(path, Hints())
    assert source.names == tuple(f"demo_{index}" for index in range(12))  # and not demo_0, demo_1, demo_10
    assert [source.length(index) for index in range(12)] == list(range(60, 72))
    assert source.info.filter_keys["train"] == ("demo_0", "demo_1")
    assert_same(source.read(11), turned_demos(12)[11])


@pytest.mark.parametrize(
    ("version", "layout"),
    [
        ("1.4.1", ("A", "A quat", "B", "to A", "to B", "A to B")),
        ("1.5.2", ("A", "A quat", "B", "A to B", "to A", "to B")),
    ],
)
def test_the_object_by_its_layout(tmp_path: Path, version: str, layout: tuple[str, ...]) -> None:
    demos = turned_demos(1)
    path = write_raw(tmp_path / "a.hdf5", demos, annotated=False, args=env_args("Stack", version), layout=layout)
    source = RobomimicSource(path, Hints())
    assert source.info.object_position_source == f"obs/object[0:3] (cubeA, Stack, robosuite {version})"
    assert_same(source.read(0), demos[0])

    other = RobomimicSource(path, Hints(object_name="cubeB")).read(0)
    assert other.object_position is not None
    assert demos[0].object_position is not None
    np.testing.assert_allclose(other.object_position, demos[0].object_position + B_FROM_A_M)


def _mug_file(path: Path, *, change: Callable[[h5py.File], None] | None = None, **settings: Any) -> Path:
    """MugCleanup as MimicGen lays it out; the drawer is open from step 12 on."""

    def lay_out(file: h5py.File) -> None:
        for group in file["data"].values():
            cubes = group["obs/object"][()]
            drawer = np.where(np.arange(len(cubes)) < 12, -0.05, -0.12)[:, None]
            del group["obs/object"]
            group["obs/object"] = np.concatenate([cubes[:, :7], np.zeros((len(cubes), 21)), drawer], axis=1)
            if change is not None:
                change(file)

    return write_raw(path, turned_demos(1), args=env_args("MugCleanup_D0"), change=lay_out, **settings)


def test_an_earlier_subtask_that_nobody_annotated(tmp_path: Path) -> None:
    with open_dataset(_mug_file(tmp_path / "a.hdf5", annotated=False)) as dataset:
        demo = dataset[0]
        assert dataset.info.warnings == ()
    np.testing.assert_array_equal(demo.subtask_signals["open"], np.arange(len(demo)) >= 12)
    assert demo.grasp == Grasp(34, "close command, fingers stalled and object moved", 12)

    def annotate(file: h5py.File) -> None:
        file["data/demo_0/datagen_info/subtask_term_signals/open"] = (np.arange(60) >= 15).astype(np.int64)

    with open_dataset(_mug_file(tmp_path / "b.hdf5", change=annotate), hints=Hints(object_name="cubeA")) as dataset:
        assert dataset[0].grasp == Grasp(34, "subtask signal 'grasp'", 15)  # what is annotated comes first


def test_an_earlier_subtask_that_cannot_be_told(tmp_path: Path) -> None:
    path = _mug_file(tmp_path / "a.hdf5", change=delete("obs/object"))
    source = RobomimicSource(path, Hints(object_name="cubeA"))
    assert source.info.warnings == (
        "nothing says when the drawer is open (no signal 'open', no drawer_joint_pos in obs/object): chunks that open "
        "it count as reaching for the object",
    )
    assert "open" not in source.read(0).subtask_signals


def test_the_object_as_a_person_says(tmp_path: Path) -> None:
    path = write_raw(tmp_path / "a.hdf5", turned_demos(1))
    source = RobomimicSource(path, Hints(object_key="datagen_info/object_poses/cubeB"))
    assert source.info.object_position_source == "datagen_info/object_poses/cubeB[0:3] (as told)"
    with h5py.File(path) as file:
        pose = file["data/demo_0/datagen_info/object_poses/cubeB"][()]
    np.testing.assert_array_equal(source.read(0).object_position, pose[:, :3, 3] - BASE_M)
    with pytest.raises(DataError, match=r"obs/cube: there is no such array; expected one of actions, .*obs/object"):
        RobomimicSource(path, Hints(object_key="obs/cube"))
    with pytest.raises(DataError, match=r"no such object; found 'cubeC'; expected one of \['cubeA', 'cubeB'\]"):
        RobomimicSource(path, Hints(object_name="cubeC"))


def test_unknown_objects_are_not_guessed_at(tmp_path: Path) -> None:
    demos = turned_demos(1)
    path = write_raw(tmp_path / "a.hdf5", demos, annotated=False, args=env_args("Juggle"))
    with pytest.raises(DataError, match=r"found 'Juggle'; expected one of Lift, Stack, .*--object-key grasp"):
        RobomimicSource(path, Hints())
    assert RobomimicSource(path, Hints(object_key=FROM_GRASP)).read(0).object_position is None

    path = write_raw(tmp_path / "b.hdf5", demos, args=env_args("Juggle"))
    with pytest.raises(DataError, match=r"several objects are annotated; found cubeA, cubeB; .*--object-name"):
        RobomimicSource(path, Hints())
    assert_same(RobomimicSource(path, Hints(object_name="cubeA")).read(0), demos[0])

    path = write_raw(tmp_path / "c.hdf5", demos, annotated=False, args=env_args("Stack", ""))
    with pytest.raises(DataError, match="unknown for this version of robosuite"):
        RobomimicSource(path, Hints())


def test_a_file_without_any_object_pose_says_so(tmp_path: Path) -> None:
    path = write_raw(tmp_path / "a.hdf5", turned_demos(1), annotated=False, change=delete("obs/object"))
    source = RobomimicSource(path, Hints())
    assert source.read(0).object_position is None
    assert source.info.object_position_source is None
    assert [warning for warning in source.info.warnings if "the file has no object pose" in warning]


def test_the_hands_orientation_best_source_first(tmp_path: Path) -> None:
    demos = turned_demos(1)
    body_only = write_raw(tmp_path / "body.hdf5", demos, annotated=False)
    assert_same(RobomimicSource(body_only, Hints()).read(0), demos[0])

    pose_only = write_raw(tmp_path / "pose.hdf5", demos, change=delete("obs/robot0_eef_quat"))
    assert_same(RobomimicSource(pose_only, Hints()).read(0), demos[0])

    def with_site(file: h5py.File) -> None:  # as robosuite 1.5 records it, and a wrist that says something else
        quat = np.roll(demos[0].eef_quat_wxyz, -1, axis=1)
        file["data/demo_0/obs/robot0_eef_quat_site"] = quat.astype(np.float32)
        file["data/demo_0/obs/robot0_eef_quat"][:] = [0.0, 0.0, 0.0, 1.0]

    site = write_raw(tmp_path / "site.hdf5", demos, annotated=False, change=with_site)
    assert_same(RobomimicSource(site, Hints()).read(0), demos[0], turned=1e-6)

    other_robot = write_raw(tmp_path / "ur5e.hdf5", demos, annotated=False, args=env_args(robots=["UR5e"]))
    source = RobomimicSource(other_robot, Hints())
    assert any("knows how they differ on a Panda only (robot: UR5e)" in warning for warning in source.info.warnings)
    assert quat_angle(source.read(0).eef_quat_wxyz, demos[0].eef_quat_wxyz) == pytest.approx(np.pi / 2)


def test_where_the_robot_stands(tmp_path: Path) -> None:
    demos = turned_demos(2)
    by_name = RobomimicSource(write_raw(tmp_path / "name.hdf5", demos, model=None), Hints())
    assert_same(by_name.read(0), demos[0])

    juggling = write_raw(tmp_path / "no.hdf5", demos, model=None, args=env_args("Juggle"))
    unknown = RobomimicSource(juggling, Hints(object_name="cubeA"))
    assert unknown.info.world_from_base is None
    assert "does not say where the robot stands" in unknown.info.warnings[0]
    np.testing.assert_array_equal(unknown.read(0).eef_position, demos[0].eef_position + BASE_M)

    def move_the_second(file: h5py.File) -> None:
        file["data/demo_1"].attrs["model_file"] = MODEL.replace("-0.56 0 0.912", "-0.56 0.5 0.912")

    each = RobomimicSource(write_raw(tmp_path / "each.hdf5", demos, change=move_the_second), Hints())
    assert_same(each.read(0), demos[0])
    np.testing.assert_allclose(each.read(1).eef_position, demos[1].eef_position - [0.0, 0.5, 0.0], atol=1e-15)


def test_landmarks_are_seen_from_each_demonstrations_own_base(tmp_path: Path) -> None:
    """In the file, and in what it is converted to."""

    def move_the_second(file: h5py.File) -> None:  # its robot, and with it all that is in front of it
        group = file["data/demo_1"]
        group.attrs["model_file"] = MODEL.replace("-0.56 0 0.912", "-0.56 0.5 0.912")
        group["obs/robot0_eef_pos"][:, 1] += 0.5
        for key in ("eef_pose", "object_poses/cubeA", "object_poses/cubeB"):
            group[f"datagen_info/{key}"][:, 1, 3] += 0.5

    demos = turned_demos(3)
    path = write_raw(tmp_path / "each.hdf5", demos, change=move_the_second)
    places = [path, tmp_path / "again.hdf5", tmp_path / "buffer.zarr", tmp_path / "lerobot"]
    for place, before in zip(places[1:], places, strict=False):
        with (
            open_dataset(before) as dataset,
            create_dataset(place, dataset.info, format="lerobot" if place == places[3] else None) as writer,
        ):
            for demo in dataset:
                writer.write(demo)
    for place in places:
        with open_dataset(place) as dataset:
            for demo, expected in zip(dataset, demos, strict=True):
                np.testing.assert_allclose(demo.eef_position, expected.eef_position, atol=1e-6)
            sampler = ChunkSampler(dataset, landmarks=["cubeB"])
        batch = sampler.batch(torch.arange(len(sampler)))
        away = batch.observations["landmark.cubeB"] - batch.object_position
        np.testing.assert_allclose(away, np.broadcast_to(B_FROM_A_M, away.shape), atol=1e-6)


def test_a_turned_base_turns_everything(tmp_path: Path) -> None:
    demos = turned_demos(1)
    turned = MODEL.replace(
        'pos="-0.56 0 0.912"', 'pos="-0.56 0 0.912" quat="0.7071067811865476 0 0 0.7071067811865476"'
    )
    found = RobomimicSource(write_raw(tmp_path / "a.hdf5", demos, model=turned), Hints()).read(0)
    x, y, z = demos[
        0
    ].eef_position.T  # the base looks along the world's y: what is ahead of it there is to its right here
    np.testing.assert_allclose(found.eef_position, np.stack([y, -x, z], axis=1), atol=1e-15)
    np.testing.assert_allclose(found.actions[:, 0], demos[0].actions[:, 1], atol=1e-15)
    np.testing.assert_allclose(found.actions[:, 1], -demos[0].actions[:, 0], atol=1e-15)
    assert found.object_position is not None
    assert demos[0].object_position is not None
    apart = np.linalg.norm(found.object_position - found.eef_position, axis=1)
    np.testing.assert_allclose(apart, np.linalg.norm(demos[0].object_position - demos[0].eef_position, axis=1))


def in_world(demo: Demo) -> Demo:
    actions = demo.actions.copy()
    actions[:, :3] += BASE_M
    return dataclasses.replace(demo, actions=actions)


@pytest.mark.parametrize(
    ("args", "hint", "world", "warns"),
    [
        (with_controller(control_delta=False), None, True, False),
        (with_controller(control_delta=False), None, False, True),
        (with_controller("1.5.2", input_type="absolute"), None, False, False),
        (with_controller("1.5.2", input_type="absolute", input_ref_frame="world"), None, True, False),
        (env_args(), "osc-absolute", True, True),  # diffusion_policy's *_abs files
        (env_args(), "osc-absolute", False, False),
    ],
)
def test_absolute_actions_are_goals_in_the_base_frame(
    tmp_path: Path, args: str, hint: str | None, world: bool, warns: bool
) -> None:
    goals = [to_absolute(demo) for demo in turned_demos(1)]
    path = write_raw(tmp_path / "a.hdf5", [in_world(demo) for demo in goals] if world else goals, args=args)
    source = RobomimicSource(path, Hints(action_spec=None if hint is None else ACTION_SPECS[hint]))
    assert source.info.action_spec == ACTION_SPECS["osc-absolute"]
    assert_same(source.read(0), goals[0])
    assert any("goals of the actions are in the" in warning for warning in source.info.warnings) == warns


def test_goals_in_an_unknown_frame_are_an_error(tmp_path: Path) -> None:
    goals = [to_absolute(demo) for demo in turned_demos(1)]
    args = env_args(
        "Juggle",
        "1.5.2",
        controller_configs=json.loads(with_controller("1.5.2", input_type="absolute"))["env_kwargs"][
            "controller_configs"
        ],
    )
    path = write_raw(tmp_path / "a.hdf5", goals, args=args, model=None)
    with pytest.raises(DataError, match=r"goals are in another frame than the hand.*goals 1\.\d\d m from"):
        RobomimicSource(path, Hints())


def test_absolute_looking_actions_under_relative_env_args_are_an_error(tmp_path: Path) -> None:
    goals = [to_absolute(demo) for demo in turned_demos(1)]
    path = write_raw(tmp_path / "a.hdf5", goals)
    with pytest.raises(DataError, match=r"demo_0 > actions\[0, 3\]: an action is beyond its range.*--action-spec"):
        RobomimicSource(path, Hints()).read(0)


@pytest.mark.parametrize("steps", [[5], [3, 1, 1, 39, 0], list(range(60)), [], [-1, 2]])
def test_images_in_any_order(tmp_path: Path, steps: list[int]) -> None:
    demos = turned_demos(1, image_size=8)
    frames = RobomimicSource(write_raw(tmp_path / "a.hdf5", demos), Hints()).read(0).images["robot0_eye_in_hand"]
    wanted = np.array(steps, dtype=np.int64)
    np.testing.assert_array_equal(frames[wanted], demos[0].images["robot0_eye_in_hand"][:][wanted])


def test_cameras_that_are_wanted(tmp_path: Path) -> None:
    path = write_raw(tmp_path / "a.hdf5", turned_demos(1, image_size=8))
    source = RobomimicSource(path, Hints(cameras=("robot0_eye_in_hand",)))
    assert source.info.cameras == tuple(source.read(0).images) == ("robot0_eye_in_hand",)
    with pytest.raises(
        DataError, match=r"no such camera; found \['front'\]; expected some of \['agentview', 'robot0_eye"
    ):
        RobomimicSource(path, Hints(cameras=("front",)))


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_an_open_source_works_in_other_processes(tmp_path: Path, method: str) -> None:
    demos = turned_demos(2, image_size=8)
    source = RobomimicSource(write_raw(tmp_path / "a.hdf5", demos), Hints())
    frames = source.read(1).images["agentview"]
    here = frames[7]  # the handle is open here before the others start
    with multiprocessing.get_context(method).Pool(1) as pool:
        there = pool.map_async(frames.__getitem__, [7, 2]).get(timeout=120)
    np.testing.assert_array_equal(there, demos[1].images["agentview"][np.array([7, 2])])
    np.testing.assert_array_equal(frames[7], here)


def test_an_open_source_works_in_threads_and_after_pickling(tmp_path: Path) -> None:
    demos = turned_demos(2, image_size=8)
    source = RobomimicSource(write_raw(tmp_path / "a.hdf5", demos), Hints())
    frames = source.read(1).images["agentview"]
    with ThreadPoolExecutor(4) as pool:
        images = list(pool.map(frames.__getitem__, range(60)))
    np.testing.assert_array_equal(images, demos[1].images["agentview"][:60])
    source.close()
    source.close()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(frames))[3], images[3])


def test_what_is_odd_is_said(tmp_path: Path) -> None:
    def change(file: h5py.File) -> None:
        file["data/demo_0"].attrs["num_samples"] = 59
        file["data/demo_0/obs/agentview_depth"] = np.zeros((60, 8, 8, 1), dtype=np.float32)
        file["data/demo_0/obs/words"] = np.array(["go"] * 60, dtype=h5py.string_dtype())
        file["data/demo_1"].attrs["num_samples"] = "abc"
        file["data/demo_2"].attrs["num_samples"] = 62.0
        file["mask/all"] = np.array([b"demo_0", b"demo_77"])
        file.create_group("mask/more")

    source = RobomimicSource(write_raw(tmp_path / "a.hdf5", turned_demos(3), change=change), Hints())
    source.read(0)
    assert source.info.warnings == (
        "obs/agentview_depth is not read: sido has no use for depth images",
        "obs/words is not read: not numbers (object)",
        "demo_0: num_samples says 59, but there are 60 actions",
        "demo_1: num_samples says abc, but there are 61 actions",
        "mask 'more' is left out: it is a group, not a list of demonstrations",
        "mask 'all' names demonstrations that the file does not have: demo_77",
    )


def _soft_actions(file: h5py.File) -> None:
    for name, group in file["data"].items():
        group.move("actions", "recorded_actions")
        group["actions"] = h5py.SoftLink(f"/data/{name}/recorded_actions")


def _soft_observations(file: h5py.File) -> None:
    for name, group in file["data"].items():
        group.move("obs", "observations")
        group["obs"] = h5py.SoftLink(f"/data/{name}/observations")


def _two_names(path: str, other: str) -> Callable[[h5py.File], None]:
    def change(file: h5py.File) -> None:
        for group in file["data"].values():
            group[other] = group[path]

    return change


def _circles(file: h5py.File) -> None:
    for name, group in file["data"].items():
        group["itself"] = h5py.SoftLink(f"/data/{name}")
        group["obs/all"] = h5py.SoftLink("/")
        group["obs/again"] = group["obs"]


@pytest.mark.parametrize(
    "change",
    [
        _soft_actions,
        _soft_observations,
        _two_names("actions", "action_dict/all"),
        _two_names("obs/robot0_eef_pos", "next_obs/robot0_eef_pos"),
        _two_names("obs/object", "a/object"),
        _circles,
    ],
)
def test_links_are_followed(tmp_path: Path, change: Callable[[h5py.File], None]) -> None:
    demos = turned_demos(2)
    source = RobomimicSource(write_raw(tmp_path / "a.hdf5", demos, annotated=False, change=change), Hints())
    assert_same(source.read(1), demos[1])
    assert source.info.warnings == ()


def test_a_link_to_nothing_is_said(tmp_path: Path) -> None:
    def change(file: h5py.File) -> None:
        file["data/demo_0/obs/soft"] = h5py.SoftLink("/nowhere")
        file["data/demo_0/obs/outside"] = h5py.ExternalLink("gone.hdf5", "/data")

    source = RobomimicSource(write_raw(tmp_path / "a.hdf5", turned_demos(1), change=change), Hints())
    source.read(0)
    assert source.info.warnings == (
        "obs/outside is not read: a link to nothing",
        "obs/soft is not read: a link to nothing",
    )


def broken(tmp_path: Path, change: Callable[[h5py.File], None], **settings: object) -> Path:
    return write_raw(tmp_path / "broken.hdf5", turned_demos(2), change=change, **settings)  # type: ignore[arg-type]


def _set_attribute(place: str, name: str, value: object) -> Callable[[h5py.File], None]:
    def change(file: h5py.File) -> None:
        file[place].attrs[name] = value

    return change


def _shorten(path: str) -> Callable[[h5py.File], None]:
    def change(file: h5py.File) -> None:
        array = file[path][:-1]
        del file[path]
        file[path] = array

    return change


def _clear(file: h5py.File) -> None:
    for name in list(file["data"]):
        del file[f"data/{name}"]


DAMAGES: list[tuple[Callable[[h5py.File], None], str]] = [
    (lambda file: file.move("data", "episodes"), r"5 > data: not a robomimic file; found \['episodes'\] at the top"),
    (_clear, r"5 > data: there are no demonstrations; found an empty group; expected demo_0"),
    (delete("actions"), r"5 > demo_0 > actions: the demonstration has no actions; found \['datagen_info', "),
    (delete("obs/robot0_eef_pos"), r"5 > demo_0 > obs/robot0_eef_pos: the demonstration lacks an array"),
    (delete("obs"), r"5 > demo_0 > obs/robot0_eef_pos: the demonstration lacks .*dataset_states_to_obs.py"),
    (delete("obs/robot0_gripper_qpos"), r"5 > demo_0 > obs/robot0_gripper_qpos: the demonstration lacks"),
    (delete("obs/robot0_eef_quat", "datagen_info"), r"demo_0 > obs/robot0_eef_quat: .*not say how the hand is turned"),
    (_shorten("data/demo_0/obs/robot0_joint_pos"), r"demo_0 > obs/robot0_joint_pos: lengths differ; found 59 steps"),
    (_shorten("data/demo_0/obs/robot0_eef_pos"), r"demo_0 > eef_position: lengths differ; found 59 .*; expected 60"),
    (_shorten("data/demo_0/datagen_info/subtask_term_signals/grasp"), r"demo_0 > .*grasp: lengths differ; found 59"),
    (
        _set_attribute("data", "env_args", "{"),
        r"data.attrs\[env_args\]: not JSON; .* correct the attribute",
    ),
    (_set_attribute("data", "env_args", ""), r"env_args\]: .*not say what its actions mean; .* with --action-spec"),
    (_set_attribute("data", "env_args", env_args(controller_configs={"type": "IK"})), r"unknown controller; found IK"),
    (_set_attribute("data/demo_0", "model_file", "<mujoco"), r"demo_0 > model_file: not XML"),
    (_set_attribute("data/demo_0", "ep_meta", "{"), r"demo_0 > ep_meta: not JSON"),
    (_set_attribute("data", "sido", "{}"), r"own description .* > sido_dataset: an entry is missing; .* convert"),
    (
        _set_attribute("data/demo_0", "sido_grasp", "[]"),
        r"demo_0 > grasp: not what is .*; found \[\]; .* delete",
    ),
]


@pytest.mark.parametrize(("change", "message"), DAMAGES)
def test_what_is_wrong_is_named(
    tmp_path: Path, as_user: None, change: Callable[[h5py.File], None], message: str
) -> None:
    path = broken(tmp_path, change)
    with pytest.raises(DataError, match=message) as caught:
        RobomimicSource(path, Hints()).read(0)
    assert caught.value.file == str(path)
    assert "\n" not in str(caught.value)


def test_only_the_broken_demonstration_is_refused(tmp_path: Path) -> None:
    def change(file: h5py.File) -> None:
        file["data/demo_1/obs/robot0_eef_pos"][3, 1] = np.nan

    source = RobomimicSource(broken(tmp_path, change), Hints())
    source.read(0)
    with pytest.raises(DataError, match=r"5 > demo_1 > obs/robot0_eef_pos: not a finite .* at step 3"):
        source.read(1)


def test_files_that_are_cut_short_or_are_something_else(tmp_path: Path) -> None:
    whole = write_raw(tmp_path / "whole.hdf5", turned_demos(2, image_size=8)).read_bytes()
    for share in (0.0, 0.01, 0.5, 0.99):
        cut = tmp_path / "cut.hdf5"
        cut.write_bytes(whole[: int(len(whole) * share)])
        with pytest.raises(
            DataError, match=r"cut.hdf5: cannot be read as HDF5; found .*; to mend it: the file is damaged"
        ):
            RobomimicSource(cut, Hints())
    cut.write_text("PK, I am a zip")
    with pytest.raises(DataError, match="cannot be read as HDF5"):
        RobomimicSource(cut, Hints())
    with pytest.raises(DataError, match=r"gone.hdf5: cannot be read as HDF5"):
        RobomimicSource(tmp_path / "gone.hdf5", Hints())


def test_rotten_bytes_are_an_error_of_ours(tmp_path: Path) -> None:
    """Whatever bytes rot, what a person sees is our error, or else the data that were not touched."""
    path = write_raw(tmp_path / "a.hdf5", turned_demos(1, image_size=8))
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    refused = 0
    for _trial in range(60):
        rotten = np.frombuffer(whole, dtype=np.uint8).copy()
        start = rng.integers(0, len(rotten) - 64)
        rotten[start : start + 64] = rng.integers(0, 256, 64)
        path.write_bytes(rotten.tobytes())
        try:
            demo = RobomimicSource(path, Hints()).read(0)
            for frames in demo.images.values():
                frames[:]
        except DataError:
            refused += 1
    assert refused > 0


def test_the_spec_of_an_absent_env_args_may_be_told(tmp_path: Path) -> None:
    demos = turned_demos(1)
    path = write_raw(tmp_path / "a.hdf5", demos, args="", model=MODEL)
    spec = ActionSpec("relative", position_scale_m=0.02, rotation_scale_rad=0.1, rate_hz=10.0)
    source = RobomimicSource(path, Hints(action_spec=spec, object_name="cubeA"))
    assert source.info.action_spec == source.read(0).action_spec == spec
    assert source.info.environment is None


def test_the_two_styles_of_controller_mean_the_same(tmp_path: Path) -> None:
    assert OSC_1_4 != OSC_1_5
    demos = turned_demos(1)
    specs = {
        RobomimicSource(
            write_raw(tmp_path / f"{version}.hdf5", demos, args=env_args("Stack", version)), Hints()
        ).info.action_spec
        for version in ("1.4.1", "1.5.2")
    }
    assert specs == {OSC}
