from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from demos.lerobot.examples import INFO, make_demo, write
from sido.demos.action_spec import ACTION_SPECS
from sido.demos.demo import Demo
from sido.demos.frames import Frames
from sido.demos.lerobot import LeRobotSource, LeRobotWriter
from sido.demos.lerobot.rolling import FileNumber, RollingVideo
from sido.demos.source import DatasetInfo
from sido.demos.video import VideoFile
from sido.errors import DataError, SettingError

FLOAT32 = 1e-6


def assert_same_numbers(read: Demo, written: Demo) -> None:
    for name in ("actions", "eef_position", "eef_quat_wxyz", "gripper", "object_position"):
        np.testing.assert_allclose(getattr(read, name), getattr(written, name), atol=FLOAT32, err_msg=name)


def assert_same(read: Demo, written: Demo) -> None:
    assert_same_numbers(read, written)
    for name in ("name", "action_spec", "grasp", "task", "metadata"):
        assert getattr(read, name) == getattr(written, name), name
    assert list(read.recorded) == list(written.recorded)
    for key, array in written.recorded.items():
        assert read.recorded[key].dtype == array.dtype, key
        np.testing.assert_array_equal(read.recorded[key], array, err_msg=key)
    assert list(read.subtask_signals) == list(written.subtask_signals)
    for key, signal in written.subtask_signals.items():
        np.testing.assert_array_equal(read.subtask_signals[key], signal)


def test_everything_comes_back(dataset: Path, demos: list[Demo]):
    source = LeRobotSource(dataset)
    assert source.names == ("demo_0", "demo_1", "demo_2")
    assert [source.length(index) for index in range(3)] == [60, 63, 66]
    for index, demo in enumerate(demos):
        read = source.read(index)
        assert_same(read, demo)
        for camera, frames in demo.images.items():
            np.testing.assert_array_equal(read.images[camera][:], frames[:])


def test_info_comes_back(dataset: Path):
    info = LeRobotSource(dataset).info
    assert info.format == "LeRobot v3.0"
    assert info.warnings == ()
    expected = dataclasses.replace(INFO, format=info.format)
    assert info.to_json() == expected.to_json()
    assert info.cameras == INFO.cameras


def test_of_a_dataset_with_videos_all_but_the_images_comes_back_exactly(video_dataset: Path, demos: list[Demo]):
    source = LeRobotSource(video_dataset)
    for index, demo in enumerate(demos):
        assert_same(source.read(index), demo)
        assert set(source.read(index).images) == set(demo.images)


def test_every_step_of_every_episode_in_a_video_is_the_right_one(demos: list[Demo], tmp_path: Path):
    def grey(demo: Demo, darkest: int) -> Demo:
        levels = (darkest + 3 * np.arange(len(demo))).astype(np.uint8)  # each step has a grey of its own
        return dataclasses.replace(
            demo, images={"top": Frames.of_array(np.tile(levels[:, None, None, None], (1, 16, 16, 3)))}
        )

    written = [grey(demo, 5 + index) for index, demo in enumerate(demos)]
    source = LeRobotSource(write(tmp_path / "grey", written, video=True))
    for index, demo in enumerate(written):
        read, expected = source.read(index).images["top"], demo.images["top"]
        assert np.abs(read[:].astype(int) - expected[:].astype(int)).max() <= 1
        np.testing.assert_array_equal(read[np.array([40, 7])], read[:][[40, 7]])


@pytest.mark.parametrize("kind", ["dataset", "video_dataset"])
def test_images_are_read_in_any_order(kind: str, request: pytest.FixtureRequest):
    frames = LeRobotSource(request.getfixturevalue(kind)).read(1).images["agentview"]
    everything = frames[:]
    for steps in ([5, 3, 3, 62], [0], [], [62, 0]):
        np.testing.assert_array_equal(frames[np.array(steps, dtype=np.int64)], everything[steps])
    np.testing.assert_array_equal(frames[-1], everything[-1])


def test_without_notes_the_conventions_find_the_same(dataset: Path, demos: list[Demo], tmp_path: Path):
    shutil.copytree(dataset, tmp_path / "plain")
    for note in ("sido.json", "sido_episodes.jsonl"):
        (tmp_path / "plain" / "meta" / note).unlink()
    source = LeRobotSource(tmp_path / "plain")
    assert source.names == ("episode_0", "episode_1", "episode_2")
    assert any("osc-delta" in warning for warning in source.info.warnings)
    for index, demo in enumerate(demos):
        read = source.read(index)
        assert_same_numbers(read, demo)
        assert read.task == demo.task
        np.testing.assert_array_equal(read.recorded["recorded.states"], demo.recorded["states"])
        np.testing.assert_array_equal(read.recorded["next.done"], demo.recorded["dones"] == 1)


def test_a_second_copy_is_like_the_first(dataset: Path, tmp_path: Path):
    first = LeRobotSource(dataset)
    copy = write(tmp_path / "copy", [first.read(index) for index in range(3)], first.info)
    second = LeRobotSource(copy)
    for index in range(3):
        assert_same(second.read(index), first.read(index))
    assert (copy / "data/chunk-000/file-000.parquet").read_bytes() == (
        dataset / "data/chunk-000/file-000.parquet"
    ).read_bytes()


def test_full_files_are_followed_by_next_ones(demos: list[Demo], tmp_path: Path):
    path = write(tmp_path / "small", demos, data_file_mb=0)
    assert sorted(file.name for file in (path / "data" / "chunk-000").iterdir()) == [
        f"file-00{number}.parquet" for number in range(3)
    ]
    source = LeRobotSource(path)
    for index in (2, 0, 1):
        assert_same(source.read(index), demos[index])


def test_file_numbers_count_within_folders():
    number, seen = FileNumber(), []
    for _ in range(5):
        seen.append((number.chunk_index, number.file_index))
        number = number.next(2)
    assert seen == [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0)]


def test_full_videos_are_followed_by_next_ones(tmp_path: Path):
    images = np.zeros((4, 16, 16, 3), dtype=np.uint8)
    starts = []
    with RollingVideo(tmp_path, "top", rate_hz=20.0, file_pixels=6 * 16 * 16, chunk_size=1) as video:
        for _ in range(3):
            starts.append(video.begin_episode())
            video.append(images)
    assert starts == [(FileNumber(0, 0), 0.0), (FileNumber(0, 0), 0.2), (FileNumber(1, 0), 0.0)]
    assert len(VideoFile(tmp_path / "videos/top/chunk-000/file-000.mp4")) == 8
    assert len(VideoFile(tmp_path / "videos/top/chunk-001/file-000.mp4")) == 4


ARRAYS = st.sampled_from(["bool", "uint8", "int32", "int64", "uint16", "float16", "float32", "float64"]).flatmap(
    lambda dtype: hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3).flatmap(
        lambda shape: hnp.arrays(dtype, (12, *shape))
    )
)
PATHS = st.lists(
    st.sampled_from(["a", "a/b", "a.b", "obs/x_image", "obs/x_img", "index", "action"]), unique=True, max_size=5
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), paths=PATHS)
def test_any_recorded_array_comes_back_bit_for_bit(data: st.DataObject, paths: list[str], tmp_path: Path):
    demo = make_demo(0, image_size=None)
    short = Demo(
        name="demo",
        actions=demo.actions[:12],
        action_spec=demo.action_spec,
        eef_position=demo.eef_position[:12],
        eef_quat_wxyz=demo.eef_quat_wxyz[:12],
        gripper=demo.gripper[:12],
        recorded={path: data.draw(ARRAYS) for path in paths},
    )
    source = LeRobotSource(write(tmp_path / "any", [short], overwrite=True))
    read = source.read(0)
    assert set(read.recorded) == set(paths)
    assert read.object_position is None
    for path, array in short.recorded.items():
        assert read.recorded[path].dtype == array.dtype
        np.testing.assert_array_equal(read.recorded[path], array)


def test_names_that_become_the_same_are_told_apart(tmp_path: Path):
    arrays = {"x_image": np.zeros((60, 0)), "x_img": np.ones((60, 2)), "x/img": np.zeros(60), "x.img": np.ones(60)}
    demo = dataclasses.replace(make_demo(0, image_size=None), recorded=arrays)
    read = LeRobotSource(write(tmp_path / "alike", [demo])).read(0)
    for key, array in arrays.items():
        np.testing.assert_array_equal(read.recorded[key], array)


def test_the_widths_of_grippers_differ_between_datasets(tmp_path: Path):
    demo = make_demo(0, image_size=None)
    for fingers in (1, 6):
        other = dataclasses.replace(demo, gripper=np.tile(demo.gripper[:, :1], (1, fingers)))
        read = LeRobotSource(write(tmp_path / str(fingers), [other])).read(0)
        np.testing.assert_allclose(read.gripper, other.gripper, atol=FLOAT32)


def test_absolute_specs_and_odd_rates_come_back(tmp_path: Path):
    spec = dataclasses.replace(ACTION_SPECS["osc-absolute"], rate_hz=12.5)
    demo = make_demo(0, image_size=None)
    absolute = np.concatenate([demo.eef_position, np.zeros((60, 3)), demo.actions[:, -1:]], axis=1)
    demo = dataclasses.replace(demo, actions=absolute, action_spec=spec)
    path = write(tmp_path / "absolute", [demo], DatasetInfo("anything", spec))
    assert LeRobotSource(path).read(0).action_spec == spec
    assert json.loads((path / "meta/info.json").read_text())["fps"] == 12.5


class TestRefusals:
    def test_nothing_written(self, tmp_path: Path):
        with pytest.raises(DataError, match="no demonstration was written"), LeRobotWriter(tmp_path / "x", INFO):
            pass
        assert list(tmp_path.iterdir()) == []

    def test_a_block_that_fails_leaves_nothing(self, tmp_path: Path, demos: list[Demo]):
        def interrupted():
            yield demos[0]
            raise KeyboardInterrupt

        for video in (False, True):
            with pytest.raises(KeyboardInterrupt):
                write(tmp_path / "x", interrupted(), video=video)
            assert list(tmp_path.iterdir()) == []

    def test_an_existing_dataset_is_replaced_only_on_demand(self, tmp_path: Path, demos: list[Demo]):
        path = write(tmp_path / "x", demos[:1])
        with pytest.raises(SettingError, match="already exists"):
            write(path, demos[1:])
        write(path, demos[1:], overwrite=True)
        assert LeRobotSource(path).names == ("demo_1", "demo_2")

    def test_two_of_one_name(self, tmp_path: Path, demos: list[Demo]):
        with pytest.raises(DataError, match=r"demo_0.*two demonstrations have the same name"):
            write(tmp_path / "x", [demos[0], demos[0]])

    def test_another_spec(self, tmp_path: Path, demos: list[Demo]):
        other = dataclasses.replace(INFO, action_spec=dataclasses.replace(INFO.action_spec, rate_hz=10.0))
        with pytest.raises(DataError, match=r"rate_hz=10.0 \(the dataset\), 20.0"):
            write(tmp_path / "x", demos, other)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"object_position": None}, "environment_state: .*found nothing; expected float32.3."),
            ({"subtask_signals": {}}, "subtask.grasp.*found nothing"),
            ({"recorded": {}}, "recorded.obs.object"),
            ({"images": {}}, "observation.images.agentview"),
            ({"gripper": np.zeros((63, 1))}, r"observation.state.*float32\[8\].*float32\[9\]"),
        ],
    )
    def test_a_demonstration_that_holds_something_else(
        self, change: dict[str, object], message: str, tmp_path: Path, demos: list[Demo]
    ):
        with pytest.raises(DataError, match=message):
            write(tmp_path / "x", [demos[0], dataclasses.replace(demos[1], **change)])

    def test_text_and_doubtful_dones(self, tmp_path: Path, demos: list[Demo]):
        text = dataclasses.replace(demos[0], recorded={"words": np.array(["a"] * 60)})
        with pytest.raises(DataError, match="words: LeRobot's tables cannot hold"):
            write(tmp_path / "x", [text])
        doubtful = dataclasses.replace(demos[0], recorded={"dones": np.full(60, 0.5)})
        with pytest.raises(DataError, match="dones: done is neither yes nor no"):
            write(tmp_path / "x", [doubtful])

    def test_a_refused_demonstration_leaves_the_others_whole(self, tmp_path: Path, demos: list[Demo]):
        with LeRobotWriter(tmp_path / "x", INFO) as writer:
            writer.write(demos[0])
            with pytest.raises(DataError):
                writer.write(demos[0])
            writer.write(demos[1])
        source = LeRobotSource(tmp_path / "x")
        assert source.names == ("demo_0", "demo_1")
        assert_same(source.read(1), demos[1])


def test_the_files_are_as_lerobot_lays_them_out(dataset: Path):
    """Read by hand, with nothing of sido."""
    info = json.loads((dataset / "meta/info.json").read_text())
    assert (info["codebase_version"], info["fps"], info["splits"]) == ("v3.0", 20, {"train": "0:3"})
    assert (info["total_episodes"], info["total_frames"], info["total_tasks"]) == (3, 189, 2)
    data = pq.read_table(dataset / "data/chunk-000/file-000.parquet")
    assert set(data.column_names) == set(info["features"])
    assert data.column("index").to_pylist() == list(range(189))
    assert data.column("frame_index").to_pylist() == [*range(60), *range(63), *range(66)]
    assert data.column("episode_index").to_pylist() == [0] * 60 + [1] * 63 + [2] * 66
    assert data.column("task_index").to_pylist() == [0] * 60 + [1] * 63 + [0] * 66
    np.testing.assert_allclose(data.column("timestamp").to_numpy()[:60], np.arange(60) / 20, rtol=1e-6)
    assert str(data.schema.field("action").type).startswith("fixed_size_list<")
    assert data.column("observation.images.agentview")[0].as_py()["bytes"].startswith(b"\x89PNG")
    assert not [name for name in data.column_names if "/" in name]
    assert [name for name in data.column_names if "image" in name] == [
        "observation.images.agentview",
        "observation.images.robot0_eye_in_hand",
    ]
    episodes = pq.read_table(dataset / "meta/episodes/chunk-000/file-000.parquet").to_pylist()
    assert [(row["dataset_from_index"], row["dataset_to_index"]) for row in episodes] == [
        (0, 60),
        (60, 123),
        (123, 189),
    ]
    assert [row["tasks"] for row in episodes] == [["lift the cube"], ["lift the brick"], ["lift the cube"]]
    tasks = pq.read_table(dataset / "meta/tasks.parquet").to_pylist()
    assert tasks == [{"task_index": 0, "task": "lift the cube"}, {"task_index": 1, "task": "lift the brick"}]


def test_the_statistics_are_those_of_the_data(dataset: Path):
    stats = json.loads((dataset / "meta/stats.json").read_text())
    data = pq.read_table(dataset / "data/chunk-000/file-000.parquet")
    actions = np.array(data.column("action").to_pylist())
    np.testing.assert_allclose(stats["action"]["mean"], actions.mean(axis=0), atol=1e-9)
    np.testing.assert_allclose(stats["action"]["std"], actions.std(axis=0), atol=1e-9)
    np.testing.assert_allclose(stats["action"]["q90"], np.quantile(actions, 0.9, axis=0), atol=1e-9)
    episode = pq.read_table(dataset / "meta/episodes/chunk-000/file-000.parquet").to_pylist()[1]
    np.testing.assert_allclose(episode["stats/action/max"], actions[60:123].max(axis=0))
    assert episode["stats/observation.images.agentview/count"] == [63]
    assert np.shape(stats["observation.images.agentview"]["q50"]) == (3, 1, 1)


def test_videos_say_where_their_episodes_are(video_dataset: Path):
    info = json.loads((video_dataset / "meta/info.json").read_text())
    feature = info["features"]["observation.images.agentview"]
    assert feature["dtype"] == "video"
    assert feature["info"]["video.codec"] == "h264"
    rows = pq.read_table(video_dataset / "meta/episodes/chunk-000/file-000.parquet").to_pylist()
    spans = [
        (
            row["videos/observation.images.agentview/from_timestamp"],
            row["videos/observation.images.agentview/to_timestamp"],
        )
        for row in rows
    ]
    np.testing.assert_allclose(spans, np.array([(0, 60), (60, 123), (123, 189)]) / 20)
    assert "observation.images.agentview" not in pq.read_schema(video_dataset / "data/chunk-000/file-000.parquet").names
