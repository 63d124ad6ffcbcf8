"""Whatever is wrong with a dataset is told in one line that names the file; nothing from deep inside comes through."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sido.demos import ActionSpec, Hints
from sido.demos.lerobot import LeRobotSource
from sido.errors import DataError

DATA = "data/chunk-000/file-000.parquet"
EPISODES = "meta/episodes/chunk-000/file-000.parquet"
VIDEO = "videos/observation.images.agentview/chunk-000/file-000.mp4"
IMAGES = "observation.images.agentview"


@pytest.fixture
def copy(dataset: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(dataset, tmp_path / "copy"))


@pytest.fixture
def video_copy(video_dataset: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(video_dataset, tmp_path / "copy"))


def edit_info(root: Path, **changes: Any) -> None:
    path = root / "meta/info.json"
    document = json.loads(path.read_text()) | changes
    path.write_text(json.dumps({key: value for key, value in document.items() if value is not ...}))


def edit_data(root: Path, change: Any, file: str = DATA) -> None:
    table = change(pq.read_table(root / file))
    pq.write_table(table, root / file)


def replaced(table: pa.Table, column: str, values: list[Any]) -> pa.Table:
    field = table.schema.field(column)
    return table.set_column(table.column_names.index(column), field, pa.array(values, field.type))


def read_all(root: Path) -> None:
    source = LeRobotSource(root)
    for index in range(len(source.names)):
        demo = source.read(index)
        for frames in demo.images.values():
            frames[:]


def test_the_copy_itself_is_sound(copy: Path):
    read_all(copy)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"codebase_version": "v2.0"},
            "codebase_version: this version.*found v2.0; expected v3.0 or v2.1.*convert_dataset",
        ),
        ({"codebase_version": ...}, "codebase_version: an entry is missing"),
        ({"features": ...}, "features: an entry is missing"),
        ({"features": [1]}, r"features: not what is expected here; found \[1\]; expected an object"),
        (
            {"fps": "fast"},
            "fps: not what is expected here; found 'fast'; expected a finite number; .*download",
        ),
        ({"data_path": "data/{nonsense}"}, "template of a path is damaged.*nonsense"),
        ({"total_frames": 190}, "total_frames: .*found 190, where the list of episodes has 189"),
        ({"total_episodes": 4}, "total_episodes: .*found 4, where the list of episodes has 3"),
    ],
)
def test_damaged_descriptions(changes: dict[str, Any], message: str, copy: Path):
    edit_info(copy, **changes)
    with pytest.raises(DataError, match=f"info.json.*{message}"):
        LeRobotSource(copy)


@pytest.mark.parametrize(
    "data_path",
    ["/etc/{chunk_index}", "data/../../{chunk_index}", "data/\0{chunk_index}", "data/\ud800{chunk_index}", "d" * 5000],
)
def test_paths_that_no_file_of_the_dataset_can_have(data_path: str, copy: Path):
    edit_info(copy, data_path=data_path)
    with pytest.raises(
        DataError, match=r"leads out of the dataset|is no path of a file|a file of the dataset is missing"
    ) as told:
        LeRobotSource(copy)
    str(told.value).encode()  # can be printed


def test_files_may_be_links_as_they_are_in_the_hub_cache(dataset: Path, tmp_path: Path):
    snapshot, blobs = tmp_path / "datasets--me--mine/snapshots/0a1b", tmp_path / "datasets--me--mine/blobs"
    blobs.mkdir(parents=True)
    for number, file in enumerate(path for path in dataset.rglob("*") if path.is_file()):
        link = snapshot / file.relative_to(dataset)
        link.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, blobs / str(number))
        link.symlink_to(os.path.relpath(blobs / str(number), link.parent))
    read_all(snapshot)
    (snapshot / DATA).resolve().unlink()
    with pytest.raises(DataError, match=f"{DATA}: a file of the dataset is missing"):
        LeRobotSource(snapshot)


def test_no_dataset_at_all(tmp_path: Path):
    with pytest.raises(DataError, match=r"not a LeRobot dataset; found no meta/info.json"):
        LeRobotSource(tmp_path)


@pytest.mark.parametrize("text", ["{", "", "\udcff"])
def test_info_that_is_no_json(text: str, copy: Path):
    (copy / "meta/info.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(DataError, match=r"info.json.*(not JSON|cannot be read)"):
        LeRobotSource(copy)


@pytest.mark.parametrize("file", [DATA, EPISODES])
def test_missing_tables(file: str, copy: Path):
    (copy / file).unlink()
    with pytest.raises(DataError, match="a file of the dataset is missing"):
        LeRobotSource(copy)


@pytest.mark.parametrize("file", [DATA, EPISODES])
@pytest.mark.parametrize("kept", [0.0, 0.5, 0.999])
def test_tables_cut_short(file: str, kept: float, copy: Path):
    content = (copy / file).read_bytes()
    (copy / file).write_bytes(content[: int(kept * len(content))])
    with pytest.raises(DataError, match=r"file-000.parquet.*the parquet file cannot be read.*finalize"):
        read_all(copy)


def test_a_table_with_a_hole(copy: Path):
    content = bytearray((copy / DATA).read_bytes())
    content[200:3000] = bytes(2800)
    (copy / DATA).write_bytes(content)
    with pytest.raises(DataError, match=r"file-000.parquet"):
        read_all(copy)


def test_fewer_rows_than_announced(copy: Path):
    edit_data(copy, lambda table: table.slice(0, 150))
    source = LeRobotSource(copy)
    source.read(1)  # whole
    with pytest.raises(DataError, match=r"demo_2: the rows.*found 27 rows of episode 2; expected 66"):
        source.read(2)


def test_rows_in_another_order_are_refused(copy: Path):
    whole = pq.read_table(copy / DATA)
    backwards = [*range(60), *reversed(range(60, 123)), *range(123, 189)]
    edit_data(copy, lambda table: table.take(backwards))
    LeRobotSource(copy).read(2)  # in order
    with pytest.raises(DataError, match=r"demo_1 > frame_index: .*not in order; found 62 in row 60; expected 0"):
        LeRobotSource(copy).read(1)
    mixed = np.argsort(np.r_[np.arange(60), np.arange(63), np.arange(66)], kind="stable")
    edit_data(copy, lambda _: whole.take(mixed))
    with pytest.raises(DataError, match=r"demo_0 > episode_index: .*not in order; found 1 in row 1; expected 0"):
        LeRobotSource(copy).read(0)
    edit_data(copy, lambda _: whole.take(mixed).drop_columns(["frame_index"]))
    with pytest.raises(DataError, match=r"demo_0 > episode_index: .*not in order"):
        LeRobotSource(copy).read(0)
    edit_data(copy, lambda _: whole.drop_columns(["frame_index"]))
    read_all(copy)


def test_an_episode_without_steps(copy: Path):
    def add(table: pa.Table) -> pa.Table:
        last = table.slice(2).to_pylist()[0]
        return pa.concat_tables([table, pa.Table.from_pylist([last | {"episode_index": 3, "length": 0}], table.schema)])

    (copy / "meta/sido.json").unlink()
    edit_info(copy, total_episodes=4)
    edit_data(copy, add, EPISODES)
    source = LeRobotSource(copy)
    source.read(2)
    with pytest.raises(DataError, match=r"episode_3 > length: the demonstration is empty; .*leave the episode out"):
        source.read(3)


def test_a_column_that_is_missing(copy: Path):
    edit_data(copy, lambda table: table.drop_columns(["action"]))
    with pytest.raises(DataError, match=r"file-000.parquet > demo_0 > action: a column is missing"):
        LeRobotSource(copy).read(0)


def test_values_that_are_missing(copy: Path):
    edit_data(copy, lambda table: replaced(table, "next.reward", [None] * 2 + [0.0] * 187))
    with pytest.raises(DataError, match=r"demo_0 > next.reward: values are missing; found 2 nulls"):
        LeRobotSource(copy).read(0)


def test_vectors_of_another_size(copy: Path):
    edit_info(copy, features=json.loads((copy / "meta/info.json").read_text())["features"] | {
        "action": {"dtype": "float32", "shape": [8], "names": None}
    })  # fmt: skip
    with pytest.raises(DataError, match=r"action: the dataset's columns are not .* found float32\[8\]; expected 7 num"):
        LeRobotSource(copy)
    (copy / "meta/sido.json").unlink()
    source = LeRobotSource(copy, Hints(action_spec=ActionSpec("absolute", rotation="quat_wxyz")))
    with pytest.raises(DataError, match=r"action: wrong size; found 420 numbers in 60 rows; expected \[8\] a row"):
        source.read(0)


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        (None, "the image is not in the file"),
        ({"bytes": None, "path": "frame.png"}, "the image is not in the file; found path 'frame.png'"),
        ({"bytes": b"GIF89a", "path": None}, "unknown kind of image; found bytes b'GIF8'"),
        ({"bytes": b"\x89PNG\r\n\x1a\n broken", "path": None}, "the image cannot be decoded"),
    ],
)
def test_one_bad_image_spoils_itself_only(cell: Any, message: str, copy: Path):
    def change(table: pa.Table) -> pa.Table:
        cells = table.column(IMAGES).to_pylist()
        cells[60 + 7] = cell
        return replaced(table, IMAGES, cells)

    edit_data(copy, change)
    frames = LeRobotSource(copy).read(1).images["agentview"]
    assert frames[6].shape == (16, 16, 3)
    frames[8:]
    with pytest.raises(DataError, match=f"{IMAGES}, row 67: {message}"):
        frames[7]


def test_images_of_another_size(copy: Path):
    features = json.loads((copy / "meta/info.json").read_text())["features"]
    features[IMAGES]["shape"] = [16, 32, 3]
    edit_info(copy, features=features)
    with pytest.raises(DataError, match=r"not as announced; found uint8\[16, 16, 3\]; expected uint8\[16, 32, 3\]"):
        LeRobotSource(copy).read(0).images["agentview"][0]


def test_a_missing_video(video_copy: Path):
    (video_copy / VIDEO).unlink()
    with pytest.raises(DataError, match=r"agentview/chunk-000/file-000.mp4: a file of the dataset is missing"):
        LeRobotSource(video_copy)


def test_a_video_that_is_none(video_copy: Path):
    (video_copy / VIDEO).write_bytes(b"not a video")
    frames = LeRobotSource(video_copy).read(0).images["agentview"]
    with pytest.raises(DataError, match=r"file-000.mp4"):
        frames[0]


def test_a_video_of_another_camera_that_is_too_short(video_copy: Path, tmp_path: Path):
    from sido.demos.video import write_video

    (video_copy / VIDEO).unlink()
    write_video(video_copy / VIDEO, np.zeros((70, 16, 16, 3), dtype=np.uint8), 20.0)
    source = LeRobotSource(video_copy)
    source.read(0).images["agentview"][:]
    frames = source.read(1).images["agentview"]  # begins 3 s into the file, which ends after 3.5
    frames[9]
    with pytest.raises(DataError, match=r"no frame for a step; found step 10 at 3.5000 s"):
        frames[10]


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("meta/sido.json", "{}", "sido's notes on the dataset are damaged.*delete meta/sido.json"),
        ("meta/sido_episodes.jsonl", '{"name": "demo_0"}\n', "sido's notes on the dataset are damaged"),
        ("meta/sido_episodes.jsonl", "", "edited after sido wrote it; found 0 episodes.*expected 3 of 189"),
    ],
)
def test_notes_that_do_not_fit(file: str, text: str, message: str, copy: Path):
    (copy / file).write_text(text)
    with pytest.raises(DataError, match=message):
        LeRobotSource(copy)
