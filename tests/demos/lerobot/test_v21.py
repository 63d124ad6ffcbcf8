"""Version 2.1, which sido reads and does not write: fixtures made by hand after its layout."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import imagecodecs
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sido.demos.lerobot import LeRobotSource
from sido.demos.video import write_video
from sido.errors import DataError

LENGTHS = (9, 4, 6)
CHUNK_SIZE = 2
KEY = "observation.images.top"


def level(episode: int, step: int) -> int:
    return 20 + 60 * episode + 6 * step


def image(episode: int, step: int) -> np.ndarray:
    return np.full((16, 16, 3), level(episode, step), dtype=np.uint8)


def state(episode: int, length: int) -> np.ndarray:
    state = np.zeros((length, 9), dtype=np.float32)
    state[:, 0] = np.arange(length) + 10 * episode
    state[:, 3] = 1.0
    return state


def table(episode: int, length: int, first: int, *, encode: Any = None) -> pa.Table:
    steps = np.arange(length)
    columns: dict[str, Any] = {
        "observation.state": pa.array(state(episode, length).tolist(), pa.list_(pa.float32())),
        "action": pa.array(np.full((length, 7), 0.1).tolist(), pa.list_(pa.float32())),
        "next.reward": pa.array(steps.astype(np.float32)),
        "timestamp": pa.array((steps / 10).astype(np.float32)),
        "frame_index": pa.array(steps),
        "episode_index": pa.array(np.full(length, episode)),
        "index": pa.array(steps + first),
        "task_index": pa.array(np.zeros(length, dtype=np.int64)),
    }
    if encode is not None:
        columns[KEY] = pa.array([{"bytes": encode(image(episode, step)), "path": None} for step in steps])
    return pa.table(columns)


def jsonl(path: Path, lines: list[Any]) -> None:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def make(root: Path, *, video: bool, encode: Any = imagecodecs.png_encode, suffix: str = "") -> Path:
    (root / "meta").mkdir(parents=True)
    first = 0
    for episode, length in enumerate(LENGTHS):
        folder = root / "data" / f"chunk-{episode // CHUNK_SIZE:03d}"
        folder.mkdir(parents=True, exist_ok=True)
        rows = table(episode, length, first, encode=None if video else encode)
        pq.write_table(rows, folder / f"episode_{episode:06d}.parquet")
        if video:
            folder = root / "videos" / f"chunk-{episode // CHUNK_SIZE:03d}" / KEY
            folder.mkdir(parents=True, exist_ok=True)
            write_video(folder / f"episode_{episode:06d}.mp4", [image(episode, step) for step in range(length)], 10.0)
        first += length
    features = {
        "observation.state": {"dtype": "float32", "shape": [9], "names": {"motors": [f"motor_{n}" for n in range(9)]}},
        "action": {"dtype": "float32", "shape": [7], "names": None},
        "next.reward": {"dtype": "float32", "shape": [1], "names": None},
        KEY: {"dtype": "video" if video else "image", "shape": [16, 16, 3], "names": ["height", "width", "channel"]},
        "timestamp": {"dtype": "float32", "shape": [1], "names": None},
        **{
            key: {"dtype": "int64", "shape": [1], "names": None}
            for key in ("frame_index", "episode_index", "index", "task_index")
        },
    }
    info = {
        "codebase_version": "v2.1", "fps": 10, "total_episodes": 3, "total_frames": 19, "total_tasks": 1,
        "total_videos": 3 * video, "total_chunks": 2, "chunks_size": CHUNK_SIZE, "features": features,
        "data_path": "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet",
        "video_path": "videos/chunk-{episode_chunk:03d}/{video_key}/episode_{episode_index:06d}.mp4",
    }  # fmt: skip
    (root / "meta/info.json").write_text(json.dumps(info))
    jsonl(root / "meta/tasks.jsonl", [{"task_index": 0, "task": "push"}])
    jsonl(
        root / "meta/episodes.jsonl",
        [{"episode_index": index, "tasks": ["push"], "length": length} for index, length in enumerate(LENGTHS)],
    )
    stats = {"action": {"min": [0.1] * 7, "max": [0.1] * 7}}
    jsonl(root / "meta/episodes_stats.jsonl", [{"episode_index": index, "stats": stats} for index in range(3)])
    return root


@pytest.mark.parametrize("video", [False, True])
def test_episodes_are_read_file_by_file(video: bool, tmp_path: Path):
    source = LeRobotSource(make(tmp_path / "old", video=video))
    assert source.info.format == "LeRobot v2.1"
    assert source.info.action_spec.rate_hz == 10.0
    assert source.names == ("episode_0", "episode_1", "episode_2")
    for index in (2, 0, 1):
        demo = source.read(index)
        assert (demo.name, len(demo), demo.task) == (f"episode_{index}", LENGTHS[index], "push")
        np.testing.assert_array_equal(demo.eef_position[:, 0], np.arange(LENGTHS[index]) + 10 * index)
        np.testing.assert_array_equal(demo.eef_quat_wxyz, [[0, 1, 0, 0]] * len(demo))
        np.testing.assert_array_equal(demo.recorded["next.reward"], np.arange(len(demo)))
        expected = [level(index, step) for step in range(len(demo))]
        pixels = demo.images["top"][:].astype(int)
        assert np.abs(pixels - np.array(expected)[:, None, None, None]).max() <= (1 if video else 0)
        assert np.abs(demo.images["top"][np.array([3, 1])].astype(int) - pixels[[3, 1]]).max() == 0


def test_jpeg_in_parquet_is_read_as_well(tmp_path: Path):
    source = LeRobotSource(make(tmp_path / "old", video=False, encode=imagecodecs.jpeg8_encode))
    assert abs(int(source.read(1).images["top"][2].mean()) - level(1, 2)) <= 1


def test_statistics_beyond_one_are_noticed(tmp_path: Path):
    root = make(tmp_path / "old", video=False)
    stats = [{"episode_index": index, "stats": {"action": {"min": [0.0], "max": [index * 1.0]}}} for index in range(3)]
    jsonl(root / "meta/episodes_stats.jsonl", stats)
    with pytest.raises(DataError, match="from 0 to 2"):
        LeRobotSource(root)


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("meta/episodes.jsonl", '{"episode_index": 0}\n', "episodes.jsonl > line 1 > length: the list of episodes is"),
        ("meta/episodes.jsonl", "{oops\n", "episodes.jsonl > line 1: not JSON"),
        ("meta/episodes_stats.jsonl", '{"stats": {"action": {"max": 1}}}\n', "the statistics are damaged"),
    ],
)
def test_damaged_lists_are_named(file: str, text: str, message: str, tmp_path: Path):
    root = make(tmp_path / "old", video=False)
    (root / file).write_text(text)
    with pytest.raises(DataError, match=message):
        LeRobotSource(root)


def test_missing_files_are_named(tmp_path: Path):
    root = make(tmp_path / "old", video=True)
    (root / f"videos/chunk-001/{KEY}/episode_000002.mp4").unlink()
    with pytest.raises(DataError, match=r"episode_000002.mp4: a file of the dataset is missing"):
        LeRobotSource(root)
