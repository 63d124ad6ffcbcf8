"""What sido knows of a dataset and LeRobot has no place for: `meta/sido.json` and `meta/sido_episodes.jsonl`."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sido.arrays import Array
from sido.demos.demo import Demo, Grasp
from sido.demos.json_document import JsonNode
from sido.demos.lerobot.layout import read_json, read_jsonl
from sido.demos.source import DatasetInfo, grasp_from_node, grasp_to_json
from sido.errors import DataError

__all__ = ["Column", "DatasetNotes", "EpisodeNotes", "read_notes", "write_notes"]

_DATASET_PATH = "meta/sido.json"
_EPISODES_PATH = "meta/sido_episodes.jsonl"
_FORGET = f"delete {_DATASET_PATH} to read the dataset by LeRobot's conventions, or convert it again"


@dataclass(frozen=True)
class Column:
    """How an array of `Demo.recorded` became a column: LeRobot's have one axis, names without "/", no empty vectors."""

    key: str
    """In `Demo.recorded`: "obs/object"."""
    shape: tuple[int, ...]
    """Of one step."""
    dtype: str

    @classmethod
    def of(cls, key: str, array: Array) -> Column:
        return cls(key, tuple(array.shape[1:]), array.dtype.newbyteorder("=").str)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))


@dataclass(frozen=True)
class DatasetNotes:
    """Which columns hold what."""

    info: str
    """`DatasetInfo.to_json`."""
    cameras: Mapping[str, str]
    """Feature -> camera."""
    recorded: Mapping[str, Column]
    """Feature -> array; arrays without a single number have no column and stand here alone."""
    signals: Mapping[str, str]
    """Feature -> subtask."""
    fingers: int
    """Gripper joints, the last entries of the state; the first seven are the position and the quaternion, xyzw."""
    episodes: tuple[EpisodeNotes, ...] = ()

    def dataset_info(self, *, format: str, cameras: tuple[str, ...]) -> DatasetInfo:
        return DatasetInfo.from_json(self.info, format=format, cameras=cameras)


@dataclass(frozen=True)
class EpisodeNotes:
    name: str
    length: int
    grasp: Grasp | None = None
    metadata: Mapping[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def of(cls, demo: Demo) -> EpisodeNotes:
        return cls(demo.name, len(demo), demo.grasp, dict(demo.metadata))


def write_notes(root: Path, notes: DatasetNotes) -> None:
    """Write both files under `root`."""
    document: dict[str, Any] = {
        "dataset": json.loads(notes.info),
        "cameras": dict(notes.cameras),
        "recorded": {feature: dataclasses.asdict(column) for feature, column in notes.recorded.items()},
        "subtask_signals": dict(notes.signals),
        "fingers": notes.fingers,
    }
    (root / _DATASET_PATH).write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    with (root / _EPISODES_PATH).open("w", encoding="utf-8") as file:
        for episode in notes.episodes:
            grasp = None if episode.grasp is None else json.loads(grasp_to_json(episode.grasp))
            line = {"name": episode.name, "length": episode.length, "grasp": grasp, "metadata": dict(episode.metadata)}
            file.write(json.dumps(line) + "\n")


def read_notes(root: Path, lengths: Sequence[int]) -> DatasetNotes | None:
    """Read both files; None where sido did not write the dataset. `lengths` are those that LeRobot's files tell."""
    path = root / _DATASET_PATH
    if not path.is_file():
        return None
    try:
        document = read_json(path)
        notes = DatasetNotes(
            info=json.dumps(document["dataset"].value),
            cameras={feature: camera.text() for feature, camera in document["cameras"].items()},
            recorded={feature: _column(column) for feature, column in document["recorded"].items()},
            signals={feature: subtask.text() for feature, subtask in document["subtask_signals"].items()},
            fingers=document["fingers"].whole(at_least=0),
        )
    except DataError as error:
        raise _damaged(error, path) from error
    path = root / _EPISODES_PATH
    try:
        notes = dataclasses.replace(notes, episodes=tuple(_episode(line) for line in read_jsonl(path)))
    except DataError as error:
        raise _damaged(error, path) from error
    if [episode.length for episode in notes.episodes] != list(lengths):
        raise DataError(
            "the dataset was edited after sido wrote it",
            file=root / _EPISODES_PATH,
            found=f"{len(notes.episodes)} episodes of {sum(episode.length for episode in notes.episodes)} steps",
            expected=f"{len(lengths)} of {sum(lengths)}, each as long as LeRobot's files say",
            fix=_FORGET,
        )
    return notes


def _column(node: JsonNode) -> Column:
    shape, dtype = (size.whole(at_least=0) for size in node["shape"].each()), node["dtype"].text()
    try:
        kind = np.dtype(dtype).kind
    except (TypeError, ValueError, SyntaxError):
        kind = ""
    if kind not in ("b", "i", "u", "f"):
        raise node["dtype"].wrong("a type of numbers")
    return Column(node["key"].text(), tuple(shape), dtype)


def _episode(line: JsonNode) -> EpisodeNotes:
    grasp = line.get("grasp")
    return EpisodeNotes(
        line["name"].text(),
        line["length"].whole(at_least=0),
        None if grasp is None else grasp_from_node(grasp),
        {key: text.text() for key, text in line["metadata"].items()},
    )


def _damaged(error: DataError, path: Path) -> DataError:
    return DataError(
        "sido's notes on the dataset are damaged",
        file=path,
        field=error.field,
        found=error.found,
        expected=error.expected,
        fix=_FORGET,
    )
