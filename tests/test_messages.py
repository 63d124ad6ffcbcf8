"""What a person reads when the input is bad: one line that names file, demo, field, what was found and what to do.

Every text is in tests/golden/messages.json; `make golden` rewrites it, and the diff is read like prose.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

from golden_files import Golden
from sido.cli.main import main
from sido.demos import ChunkSampler, ChunkWindow, create_dataset, find_grasp, open_dataset
from sido.errors import SidoError


def stack(folder: Path, demos: int = 2) -> Path:
    assert main(["synthesize", str(folder / "stack.hdf5"), "--demos", str(demos), "--image-size", "16"]) == 0
    return folder / "stack.hdf5"


def converted(folder: Path, name: str, *options: str) -> Path:
    assert main(["convert", str(stack(folder)), str(folder / name), *options]) == 0
    return folder / name


def edited(change: Callable[[h5py.File], None]) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = stack(folder)
        with h5py.File(path, "r+") as file:
            change(file)
        return path

    return make


def replace(file: h5py.File, key: str, value: np.ndarray) -> None:
    del file[key]
    file[key] = value


def spoil(key: str, step: int, column: int, value: float) -> Callable[[h5py.File], None]:
    def change(file: h5py.File) -> None:
        array = file[key][()]
        array[step, column] = value
        replace(file, key, array)

    return change


def shorten(key: str, by: int) -> Callable[[h5py.File], None]:
    return lambda file: replace(file, key, file[key][:-by])


def open_hand(file: h5py.File) -> None:
    for demo in ("demo_0", "demo_1"):
        actions = file[f"data/{demo}/actions"][()]
        actions[:, -1] = -1
        replace(file, f"data/{demo}/actions", actions)
        del file[f"data/{demo}/datagen_info"]
        if "sido_grasp" in file[f"data/{demo}"].attrs:
            del file[f"data/{demo}"].attrs["sido_grasp"]


def environment(name: str, *objects: str) -> Callable[[h5py.File], None]:
    """As another simulation would have written it: no word of sido's, and an `object` vector."""

    def change(file: h5py.File) -> None:
        data = file["data"]
        for attribute in ("sido", "sido_object_key"):
            del data.attrs[attribute]
        data.attrs["env_args"] = data.attrs["env_args"].replace("unknown", name)
        for demo in ("demo_0", "demo_1"):
            data[f"{demo}/obs"].move("object_position", "object")
            for item in objects:
                data[f"{demo}/datagen_info/object_poses/{item}"] = np.tile(np.eye(4), (80, 1, 1))

    return change


def no_object(file: h5py.File) -> None:
    for demo in ("demo_0", "demo_1"):
        del file[f"data/{demo}/obs/object"]


def empty(file: h5py.File) -> None:
    for key in ("actions", *(f"obs/{name}" for name in file["data/demo_1/obs"])):
        replace(file, f"data/demo_1/{key}", file[f"data/demo_1/{key}"][:0])
    file["data/demo_1"].attrs["num_samples"] = 0


def truncated(folder: Path) -> Path:
    path = stack(folder)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    return path


def not_hdf5(folder: Path) -> Path:
    (folder / "stack.hdf5").write_text("pos,quat\n1,2\n")
    return folder / "stack.hdf5"


def without(name: str, pattern: str, *options: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = converted(folder, name, *options)
        for file in path.rglob(pattern):
            file.unlink() if file.is_file() else shutil.rmtree(file)
        return path

    return make


def cut(name: str, pattern: str, *options: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = converted(folder, name, *options)
        for file in [path] if path.is_file() else path.rglob(pattern):
            file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
        return path

    return make


BAD: dict[str, Callable[[Path], Path]] = {
    "missing file": lambda folder: folder / "nope.hdf5",
    "a folder of nothing": lambda folder: folder,
    "not HDF5": not_hdf5,
    "truncated HDF5": truncated,
    "no data group": edited(lambda file: file.move("data", "records")),
    "no demonstrations": edited(lambda file: [file["data"].pop(name) for name in list(file["data"])] and None),
    "missing actions": edited(lambda file: file["data/demo_1"].pop("actions") and None),
    "missing hand": edited(lambda file: file["data/demo_1/obs"].pop("robot0_eef_pos") and None),
    "missing camera": edited(lambda file: file["data/demo_1/obs"].pop("agentview_image") and None),
    "lengths that differ": edited(shorten("data/demo_1/obs/robot0_eef_pos", 3)),
    "image lengths that differ": edited(shorten("data/demo_1/obs/agentview_image", 3)),
    "not a number": edited(spoil("data/demo_1/actions", 17, 2, np.nan)),
    "infinite": edited(spoil("data/demo_1/obs/robot0_eef_pos", 17, 2, np.inf)),
    "actions beyond their range": edited(spoil("data/demo_1/actions", 17, 2, 1.7)),
    "empty demo": edited(empty),
    "no grasp": edited(open_hand),
    "unknown environment": edited(environment("Juggle")),
    "several objects": edited(environment("Juggle", "ball", "club")),
    "another object vector": edited(environment("Stack")),
    "no object pose and no grasp": edited(lambda file: (environment("Juggle")(file), open_hand(file), no_object(file))),
    "LeRobot without data": without("lerobot", "*.parquet"),
    "LeRobot without data/": without("lerobot", "data"),
    "LeRobot without video": without("lerobot", "*.mp4", "--format", "lerobot-video"),
    "LeRobot truncated": cut("lerobot", "data/**/*.parquet"),
    "LeRobot truncated video": cut("lerobot", "videos/**/*.mp4", "--format", "lerobot-video"),
    "LeRobot bad info": cut("lerobot", "info.json"),
    "zarr truncated": cut("stack.zarr.zip", ""),
    "zarr without ends": without("stack.zarr", "episode_ends"),
    "DROID truncated": lambda folder: not_hdf5(folder).rename(folder / "trajectory.h5"),
}


def complaint(path: Path) -> str:
    """What reading everything says, as `sampler` or `inspect` would."""
    try:
        with open_dataset(path) as dataset:
            for demo in dataset:
                for frames in demo.images.values():
                    _ = frames[:]
                if demo.grasp is None:
                    find_grasp(demo)
    except SidoError as error:
        return str(error)
    return "no complaint"


@pytest.mark.usefixtures("as_user")
def test_every_bad_input_gets_one_clear_line(tmp_path: Path, golden: Golden, capsys: pytest.CaptureFixture[str]):
    said: dict[str, str] = {}
    for name, make in BAD.items():
        folder = tmp_path / re.sub(r"\W", "-", name)
        folder.mkdir()
        text = complaint(make(folder)).replace(str(folder), "<folder>")
        said[name] = re.sub(r"(?<![.\d])\d{5,}", "<many>", re.sub(r"0x[0-9a-f]+", "0x..", text))  # sizes of files
    assert [name for name, text in said.items() if text == "no complaint" or "\n" in text] == []
    golden.check("messages", "tests/test_messages.py: BAD, read with open_dataset", said)
    capsys.readouterr()


@pytest.mark.usefixtures("as_user")
def test_the_door_is_guarded_from_the_command_line_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["inspect", str(truncated(tmp_path))]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("error: ")
    assert captured.err.count("\n") == 1
    assert "Traceback" not in captured.err


def test_a_chunk_longer_than_the_demo(tmp_path: Path):
    with (
        open_dataset(stack(tmp_path)) as dataset,
        pytest.raises(SidoError, match="demo_0: the demonstration is shorter"),
    ):
        ChunkSampler(dataset, ChunkWindow(200))


def test_unknown_names_list_the_known(tmp_path: Path):
    with open_dataset(stack(tmp_path)) as dataset:
        with pytest.raises(SidoError, match=r"no such demonstration; found 'demo_7'; expected demo_0 ... demo_1"):
            dataset["demo_7"]
        with pytest.raises(SidoError, match="unknown filter key; found 'train'; expected none"):
            dataset.subset("train")
        with pytest.raises(SidoError, match="unknown format to write; found 'rlds'; expected one of lerobot"):
            create_dataset(tmp_path / "x", dataset.info, format="rlds")
        with pytest.raises(SidoError, match=r"no format to write this in; found '.mcap'"):
            create_dataset(tmp_path / "x.mcap", dataset.info)
