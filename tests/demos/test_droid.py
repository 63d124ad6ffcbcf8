"""DROID folders, made here with what DROID's own writer leaves in them."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from sido.demos.action_spec import ACTION_SPECS
from sido.demos.droid import DroidSource
from sido.demos.files_below import files_below
from sido.demos.formats import format_of
from sido.demos.source import Hints
from sido.demos.video import VideoFile, write_video
from sido.errors import DataError, SettingError

ROWS = 24
SERIALS = {"wrist": "20000", "ext1": "10000", "ext2": "30000"}


def rows_of(seed: int = 0, rows: int = ROWS) -> list[dict[str, Any]]:
    """What `collect_trajectory` hands to the writer at each step."""
    rng = np.random.default_rng(seed)
    steps: list[dict[str, Any]] = []
    for row in range(rows):
        moved = row not in (0, 1, 10, 11, 12)
        state = {
            "cartesian_position": rng.uniform(-1, 1, 6) * [1, 1, 1, np.pi, np.pi / 2, np.pi],
            "gripper_position": float(rng.uniform()),
            "joint_positions": rng.normal(size=7),
            "prev_command_successful": bool(row % 2),
        }
        action: dict[str, Any] = {
            "cartesian_position": rng.uniform(-1, 1, 6),
            "gripper_position": float(rng.uniform()),
            "cartesian_velocity": rng.uniform(-1, 1, 6),
        }
        if moved:  # the controller says nothing before it is enabled
            action["target_cartesian_position"] = rng.normal(size=6)
        observation = {
            "robot_state": state,
            "controller_info": {"movement_enabled": moved, "success": row == rows - 1},
            "camera_type": {SERIALS["wrist"]: 0, SERIALS["ext1"]: 1, SERIALS["ext2"]: 1},
            "timestamp": {"skip_action": not moved, "robot_state": {"read_start": 1_690_000_000_000 + row}},
            "object": rng.normal(size=7),
        }
        steps.append({"observation": observation, "action": action})
    return steps


def append(file: h5py.File, steps: list[dict[str, Any]]) -> None:
    """A dataset for each leaf, with a row for each step that has the leaf: what DROID's `write_dict_to_hdf5` leaves."""
    columns: dict[str, list[Any]] = {}

    def visit(values: dict[str, Any], prefix: str) -> None:
        for key, value in values.items():
            if isinstance(value, dict):
                visit(value, f"{prefix}{key}/")
            else:
                columns.setdefault(f"{prefix}{key}", []).append(value)

    for step in steps:
        visit(step, "")
    for path, column in columns.items():
        array = np.array(column)
        file.create_dataset(path, data=array, maxshape=(None, *array.shape[1:]))


def pictures(rows: int, width: int = 48, seed: int = 0) -> np.ndarray:
    images = np.random.default_rng(seed).integers(0, 30, (rows, 32, width, 3), dtype=np.uint8)
    for row in range(rows):
        images[row, :, : row + 1] += 180
    return images


def record(
    folder: Path,
    steps: list[dict[str, Any]] | None = None,
    *,
    videos: dict[str, int] | None = None,
    damage: Callable[[h5py.File], Any] = len,
) -> Path:
    folder.mkdir(parents=True)
    with h5py.File(folder / "trajectory.h5", "w") as file:
        append(file, rows_of() if steps is None else steps)
        file.attrs.update({"current_task": "pick the cup", "user": b"Ada", "success": True})
        damage(file)
    for serial, count in (videos or {}).items():
        write_video(folder / "recordings" / "MP4" / f"{serial}.mp4", pictures(count, seed=int(serial)), 60.0)
    return folder


def moved(steps: list[dict[str, Any]], *path: str) -> np.ndarray:
    """The oracle: a loop over the steps, as DROID's `load_trajectory(remove_skipped_steps=True)` has it."""
    kept: list[Any] = []
    for step in steps:
        if step["observation"]["controller_info"]["movement_enabled"]:
            value: Any = step
            for name in path:
                value = value[name]
            kept.append(value)
    return np.array(kept)


def test_an_episode_is_what_was_handed_to_the_writer(tmp_path: Path):
    steps = rows_of()
    source = DroidSource(record(tmp_path / "episode"))
    demo = source.read(0)
    assert (source.names, source.length(0), len(demo)) == (("episode",), 19, 19)
    state = moved(steps, "observation", "robot_state", "cartesian_position")
    np.testing.assert_array_equal(demo.eef_position, state[:, :3])
    found = Rotation.from_quat(demo.eef_quat_wxyz[:, [1, 2, 3, 0]])
    expected = Rotation.from_euler("xyz", state[:, 3:])  # as in DROID's transformations.py
    np.testing.assert_allclose((found * expected.inv()).magnitude(), 0.0, atol=1e-12)
    np.testing.assert_array_equal(demo.gripper[:, 0], moved(steps, "observation", "robot_state", "gripper_position"))
    np.testing.assert_array_equal(demo.actions[:, :6], moved(steps, "action", "cartesian_position"))
    np.testing.assert_array_equal(demo.actions[:, 6], moved(steps, "action", "gripper_position"))
    assert demo.action_spec == source.info.action_spec == ACTION_SPECS["droid"]
    assert demo.task == "pick the cup"
    assert demo.metadata == {"current_task": "pick the cup", "user": "Ada", "success": "True"}
    assert demo.object_position is None
    assert not demo.images
    source.close()


def test_the_rest_is_carried_along_and_what_cannot_be_aligned_is_not(tmp_path: Path):
    steps = rows_of()
    recorded = DroidSource(record(tmp_path / "episode")).read(0).recorded
    assert set(recorded) == {
        "action/cartesian_velocity",
        "observation/robot_state/joint_positions",
        "observation/robot_state/prev_command_successful",
        "observation/controller_info/movement_enabled",
        "observation/controller_info/success",
        *(f"observation/camera_type/{serial}" for serial in SERIALS.values()),
        "observation/timestamp/skip_action",
        "observation/timestamp/robot_state/read_start",
        "observation/object",
    }
    for path, array in recorded.items():
        np.testing.assert_array_equal(array, moved(steps, *path.split("/")), err_msg=path)
    assert recorded["observation/robot_state/prev_command_successful"].dtype == bool
    assert recorded["observation/timestamp/robot_state/read_start"].dtype == np.int64


def test_the_object_that_a_person_names(tmp_path: Path):
    folder = record(tmp_path / "episode")
    source = DroidSource(folder, Hints(object_key="observation/object"))
    np.testing.assert_array_equal(source.read(0).object_position, moved(rows_of(), "observation", "object")[:, :3])
    assert source.info.object_position_source == "observation/object"
    with pytest.raises(DataError, match=r"no array with an object position; expected one of .*observation/object"):
        DroidSource(folder, Hints(object_key="observation/cup")).read(0)


def test_episodes_are_found_at_any_depth_and_sorted_by_outcome(tmp_path: Path):
    for seed, name in enumerate(("success/day/b", "success/day/a", "failure/day/c")):
        record(tmp_path / "success" / name, rows_of(seed, 12 + seed))  # the root's own name says something else
    source = DroidSource(tmp_path / "success")
    assert source.names == ("failure/day/c", "success/day/a", "success/day/b")
    assert [source.length(index) for index in range(3)] == [9, 8, 8]
    assert source.info.filter_keys["failure"] == ("failure/day/c",)
    assert source.info.filter_keys["success"] == ("success/day/a", "success/day/b")
    assert any("1 episodes are failures" in warning for warning in source.info.warnings)
    one = DroidSource(tmp_path / "success/success/day/a/trajectory.h5")
    assert one.names == ("a",)
    np.testing.assert_array_equal(one.read(0).actions, source.read(1).actions)
    assert one.info.filter_keys == {}
    with pytest.raises(DataError, match=r"no DROID episodes; expected folders with a trajectory\.h5"):
        DroidSource(tmp_path / "success/success/day/a/recordings")


def test_episodes_may_be_links(tmp_path: Path):
    record(tmp_path / "disk/day/a", rows_of(1))
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "linked").symlink_to(tmp_path / "disk/day")
    (tmp_path / "disk/day/back").symlink_to(folder)  # a circle
    assert format_of(folder).name == "DROID"
    source = DroidSource(folder)
    assert source.names == ("linked/a",)
    assert source.length(0) == len(source.read(0))
    assert [file.relative_to(folder) for file in files_below(folder)] == [Path("linked/a/trajectory.h5")]
    (tmp_path / "disk/again").symlink_to(tmp_path / "disk/day")  # leads to what stands under it anyway
    (tmp_path / "disk/aside").symlink_to(folder)
    assert DroidSource(tmp_path / "disk").names == ("day/a",)


def test_a_folder_that_is_named_as_the_record_is_no_record(tmp_path: Path):
    folder = record(tmp_path / "episode")
    (folder / "metadata_x.json").mkdir()
    (folder / "metadata_y.json").write_text("{}")
    metadata = DroidSource(folder).read(0).metadata
    assert "metadata_x.json" not in metadata
    assert metadata["metadata_y.json"] == "{}"


def test_images_are_those_of_the_rows_that_count(tmp_path: Path):
    folder = record(tmp_path / "episode", videos=dict.fromkeys(SERIALS.values(), ROWS))
    source = DroidSource(folder)
    assert source.info.cameras == ("wrist", "ext1", "ext2")
    demo = source.read(0)
    rows = np.flatnonzero([step["observation"]["controller_info"]["movement_enabled"] for step in rows_of()])
    for camera, serial in SERIALS.items():
        frames = demo.images[camera]
        assert frames.shape == (19, 32, 48, 3)
        oracle = VideoFile(folder / f"recordings/MP4/{serial}.mp4").read(np.arange(ROWS))
        np.testing.assert_array_equal(frames[:], oracle[rows])
        np.testing.assert_array_equal(frames[np.array([18, 0, 8, 8])], oracle[rows[[18, 0, 8, 8]]])
        bars = (frames[:].mean(axis=(1, 3)) > 100).sum(axis=1)  # the number that is drawn into each picture
        np.testing.assert_array_equal(bars, rows + 1)
    chosen = DroidSource(folder, Hints(cameras=("ext2",)))
    assert chosen.info.cameras == tuple(chosen.read(0).images) == ("ext2",)
    with pytest.raises(SettingError, match=r"no such camera; found \['top'\]; expected some of \['ext1', "):
        DroidSource(folder, Hints(cameras=("top",)))


def test_of_two_eyes_side_by_side_the_left_is_shown(tmp_path: Path):
    folder = record(tmp_path / "episode")
    path = folder / "recordings" / f"{SERIALS['ext1']}.mp4"
    write_video(path, pictures(ROWS, width=96), 60.0)
    source = DroidSource(folder)
    assert source.info.cameras == ("ext1",)
    frames = source.read(0).images["ext1"]
    assert frames.shape == (19, 32, 48, 3)
    np.testing.assert_array_equal(frames[0], VideoFile(path).read(np.array([2]))[0, :, :48])


def test_recordings_that_end_early(tmp_path: Path):
    """Two frames too few shorten the demonstration; many too few are a damaged recording."""
    folder = record(tmp_path / "two", videos={SERIALS["wrist"]: ROWS - 2, SERIALS["ext1"]: ROWS + 1})
    source = DroidSource(folder)
    demo = source.read(0)
    assert source.length(0) == len(demo) == len(demo.images["wrist"]) == len(demo.images["ext1"]) == 17
    assert DroidSource(folder, Hints(cameras=("ext1",))).length(0) == 19
    source = DroidSource(record(tmp_path / "many", videos={SERIALS["wrist"]: ROWS - 6}))
    with pytest.raises(DataError, match=r"20000\.mp4 > many > wrist: the recording is cut short; found 18 frames"):
        source.length(0)


def test_cameras_that_only_some_episodes_have(tmp_path: Path):
    record(tmp_path / "day" / "a", videos={SERIALS["wrist"]: ROWS})
    record(tmp_path / "day" / "b")
    source = DroidSource(tmp_path / "day")
    assert len(source.read(0).images) == 1
    with pytest.raises(DataError, match=r"recordings > b > wrist: there is no MP4 of a camera; found MP4s of \[\]"):
        source.read(1)
    assert len(DroidSource(tmp_path / "day", Hints(cameras=())).read(1)) == 19


def test_svo_recordings_give_a_warning_and_no_images(tmp_path: Path):
    folder = record(tmp_path / "episode")
    assert not any("SVO" in warning for warning in DroidSource(folder).info.warnings)
    (folder / "recordings" / "SVO").mkdir(parents=True)
    (folder / "recordings" / "SVO" / "20000.svo").write_bytes(b"zed")
    source = DroidSource(folder)
    assert any("SVO" in warning for warning in source.info.warnings)
    assert any("flange" in warning for warning in source.info.warnings)
    assert not source.read(0).images


def test_without_pyav_arms_can_be_read_and_images_say_what_to_install(tmp_path: Path):
    folder = record(tmp_path / "episode", videos={SERIALS["wrist"]: ROWS})
    program = f"""
import sys
sys.modules["av"] = None
from sido.demos.droid import DroidSource
from sido.demos.source import Hints
print(DroidSource({str(folder)!r}, Hints(cameras=())).read(0).actions.shape)
try:
    DroidSource({str(folder)!r}).read(0)
except ImportError as error:
    print(error)
"""
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert said.startswith("(19, 7)\nreading and writing video needs the package 'av'")


def test_the_record_beside_the_file_is_kept(tmp_path: Path):
    folder = record(tmp_path / "episode")
    (folder / "metadata_LAB+1+2023.json").write_text(json.dumps({"uuid": "LAB+1"}))
    assert json.loads(DroidSource(folder).read(0).metadata["metadata_LAB+1+2023.json"]) == {"uuid": "LAB+1"}


def test_files_that_say_less(tmp_path: Path):
    """Without `movement_enabled` DROID says `skip_action`; with neither, every row counts. A killed recording lacks
    the action of its last row."""

    def forget(*paths: str) -> Callable[[h5py.File], None]:
        def damage(file: h5py.File) -> None:
            for path in paths:
                del file[path]

        return damage

    enabled, skipped = "observation/controller_info/movement_enabled", "observation/timestamp/skip_action"
    assert DroidSource(record(tmp_path / "a", damage=forget(enabled))).length(0) == 19
    source = DroidSource(record(tmp_path / "b", damage=forget(enabled, skipped, "observation/camera_type")))
    assert source.length(0) == len(source.read(0)) == ROWS

    def kill(file: h5py.File) -> None:
        for array in file["action"].values():
            array.resize(min(len(array), ROWS - 1), axis=0)

    killed = DroidSource(record(tmp_path / "c", damage=kill))
    demo = killed.read(0)
    assert killed.length(0) == len(demo) == 18
    np.testing.assert_array_equal(demo.eef_position, DroidSource(tmp_path / "a").read(0).eef_position[:-1])
    assert len(demo.recorded["observation/object"]) == len(demo.recorded["action/cartesian_velocity"]) == 18
    hinted = dataclasses.replace(ACTION_SPECS["droid"], rate_hz=20.0)
    assert DroidSource(tmp_path / "c", Hints(action_spec=hinted)).read(0).action_spec == hinted


def replace(path: str, change: Callable[[np.ndarray], np.ndarray]) -> Callable[[h5py.File], None]:
    def damage(file: h5py.File) -> None:
        array = change(file[path][:] if isinstance(file[path], h5py.Dataset) else np.empty(0))
        del file[path]
        file.create_dataset(path, data=array)

    return damage


STATE = "observation/robot_state/cartesian_position"
TYPES = "observation/camera_type"
CAMERA = f"{TYPES}/{SERIALS['wrist']}"
MOVED = "observation/controller_info/movement_enabled"


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (
            lambda file: file.__delitem__("action"),
            "action/cartesian_position: an array is missing; found",
        ),
        (lambda file: file.__delitem__(STATE), f"{STATE}: an array is missing"),
        (replace(STATE, lambda a: a[:, :3]), rf"{STATE}: wrong shape or type; found float64\[24, 3\]; .* \[T, 6\]"),
        (replace(STATE, lambda a: a.astype("S8")), "wrong shape or type; found |S8"),
        (replace(STATE, lambda a: a[:-2]), "trajectory.h5.*: lengths differ; found .*: 22.* expected as many actions"),
        (replace(STATE, lambda a: a[:0]), f"{STATE}: the episode is empty"),
        (replace(STATE, lambda a: a * [np.nan, 1, 1, 1, 1, 1]), "episode > eef_position: not a finite number"),
        (replace(MOVED, lambda a: a & False), f"{MOVED}: the robot is never moved; found 24 rows"),
        (replace(MOVED, lambda a: a[:-5]), rf"{MOVED}: wrong shape; found \[19\]"),
        (
            replace(CAMERA, lambda a: a[0]),
            rf"{CAMERA}: wrong shape or type; found int64\[\]; expected whole numbers \[T\]",
        ),
        (replace(CAMERA, lambda a: a.astype("S8")), rf"{CAMERA}: wrong shape or type; found \|S8"),
        (lambda f: f.create_group(f"{CAMERA}0/left"), rf"{CAMERA}0: wrong shape or type; found a group"),
        (replace(TYPES, lambda _: np.zeros(3)), rf"{TYPES}: wrong shape or type; found an array; expected a group"),
        (replace("action/gripper_position", lambda a: a + 2), r"actions\[0, 6\]: an action is beyond its range"),
    ],
)
def test_files_that_do_not_do(tmp_path: Path, damage: Callable[[h5py.File], Any], message: str):
    folder = record(tmp_path / "episode", damage=damage)
    with pytest.raises(DataError, match=message) as caught:
        DroidSource(folder).read(0)
    assert str(caught.value).startswith(str(folder / "trajectory.h5"))
    assert "\n" not in str(caught.value)


def test_damaged_files(tmp_path: Path):
    folder = record(tmp_path / "episode")
    whole = (folder / "trajectory.h5").read_bytes()
    for content in (b"", b"not HDF5", whole[: len(whole) // 2]):
        (folder / "trajectory.h5").write_bytes(content)
        with pytest.raises(DataError, match=r"trajectory\.h5: cannot be read as HDF5"):
            DroidSource(folder)
