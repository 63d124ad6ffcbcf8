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
from sido.demos.lerobot.layout import read_json, read_jsonl
from sido.demos.source import DatasetInfo, grasp_from_json, grasp_to_json
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
    document = read_json(path)
    try:
        notes = DatasetNotes(
            info=json.dumps(document["dataset"]),
            cameras=dict(document["cameras"]),
            recorded={
                feature: Column(fields["key"], tuple(fields["shape"]), fields["dtype"])
                for feature, fields in document["recorded"].items()
            },
            signals=dict(document["subtask_signals"]),
            fingers=int(document["fingers"]),
            episodes=tuple(_episode(line) for line in read_jsonl(root / _EPISODES_PATH)),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError("sido's notes on the dataset are damaged", file=path, found=repr(error), fix=_FORGET) from error
    if [episode.length for episode in notes.episodes] != list(lengths):
        raise DataError(
            "the dataset was edited after sido wrote it",
            file=root / _EPISODES_PATH,
            found=f"{len(notes.episodes)} episodes of {sum(episode.length for episode in notes.episodes)} steps",
            expected=f"{len(lengths)} of {sum(lengths)}, each as long as LeRobot's files say",
            fix=_FORGET,
        )
    return notes


def _episode(line: Any) -> EpisodeNotes:
    grasp = None if line["grasp"] is None else grasp_from_json(json.dumps(line["grasp"]))
    return EpisodeNotes(str(line["name"]), int(line["length"]), grasp, dict(line["metadata"]))
