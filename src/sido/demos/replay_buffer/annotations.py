"""What sido knows of a dataset and diffusion_policy's format has no place for: one JSON document for each episode.

The documents stand end to end, as bytes, in `meta/sido`; `meta/sido_ends` says where each stops. The last one speaks
of the whole. They are arrays of `meta`, and not attributes, because those survive being copied and converted by
diffusion_policy's `ReplayBuffer`, may be as large as a simulator's model file, and are read one at a time.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sido.arrays import Array
from sido.demos.demo import Demo, Grasp
from sido.demos.json_document import JsonNode, parse_json
from sido.demos.replay_buffer.store import DISK_COMPRESSOR, read_rows
from sido.demos.source import DatasetInfo, grasp_from_node
from sido.errors import DataError

__all__ = ["Annotations", "AnnotationsWriter", "EpisodeNote"]

_VERSION = 1
_BYTES, _ENDS = "sido", "sido_ends"


@dataclass(frozen=True)
class EpisodeNote:
    """What is true of one episode; keys are names of arrays under `data`."""

    length: int
    task: str
    grasp: Grasp | None
    metadata: Mapping[str, str]
    signals: Mapping[str, str]
    """Subtask signal -> key."""
    recorded: Mapping[str, str]
    """Path in `Demo.recorded` -> key."""
    empty: Mapping[str, tuple[str, list[int]]]
    """Path in `Demo.recorded` -> type and shape of a step, where a step has no numbers (no camera poses, ...):
    diffusion_policy divides by the size of a row."""

    @classmethod
    def of(cls, demo: Demo, signals: Mapping[str, str], recorded: Mapping[str, str]) -> EpisodeNote:
        """What to note of a demonstration, given the keys of its arrays that have any numbers."""
        rest = {path: array for path, array in demo.recorded.items() if path not in recorded}
        empty = {path: (array.dtype.str, list(array.shape[1:])) for path, array in rest.items()}
        return cls(len(demo), demo.task, demo.grasp, dict(demo.metadata), signals, recorded, empty)

    @classmethod
    def from_node(cls, node: JsonNode) -> EpisodeNote:
        """Read what `dataclasses.asdict` and JSON made of a note."""
        grasp = node.get("grasp")
        maps = {
            name: {key: text.text() for key, text in node[name].items()} for name in ("metadata", "signals", "recorded")
        }
        return cls(
            node["length"].whole(at_least=0),
            node["task"].text(),
            None if grasp is None else grasp_from_node(grasp),
            **maps,
            empty={path: _empty(kind) for path, kind in node["empty"].items()},
        )


def _empty(node: JsonNode) -> tuple[str, list[int]]:
    """Type and shape of a step that has no numbers."""
    parts = node.each()
    shape = [size.whole(at_least=0) for size in parts[1].each()] if len(parts) == 2 else [1]
    if math.prod(shape) != 0:
        raise node.wrong("a type, and a shape without numbers")
    try:
        return np.dtype(parts[0].text()).str, shape
    except (TypeError, ValueError, SyntaxError):
        raise parts[0].wrong("a type of numpy's") from None


class Annotations:
    """The documents of a dataset that is open for reading."""

    def __init__(self, meta: Mapping[str, Any], path: Path) -> None:
        self._path, self._bytes = path, meta[_BYTES]
        self._ends = read_rows(meta[_ENDS], 0, meta[_ENDS].shape[0], file=path, field=f"meta/{_ENDS}")
        try:
            whole = self._document(len(self._ends) - 1)
            if (version := whole["sido_replay_buffer"]).whole() != _VERSION:
                raise version.wrong(f"{_VERSION}")
            self.info_json: str = json.dumps(whole["info"].value)
            self.names: tuple[str, ...] = whole["names"].texts()
            self.cameras: dict[str, str] = {camera: key.text() for camera, key in whole["cameras"].items()}
        except DataError as error:
            raise self._damaged(str(error)) from error

    @classmethod
    def open(cls, meta: Mapping[str, Any], path: Path) -> Annotations | None:
        """The documents, or None where sido did not write the dataset."""
        return cls(meta, path) if _BYTES in meta and _ENDS in meta else None

    def require_fits(self, lengths: Array) -> None:
        """Raise unless the annotations belong to as many episodes as there are."""
        if len(self.names) != len(lengths):
            raise self._damaged(f"{len(self.names)} names", f"{len(lengths)}, as many as episodes")

    def episode(self, index: int, length: int) -> EpisodeNote:
        """What is said of an episode of this length."""
        try:
            note = EpisodeNote.from_node(self._document(index))
        except DataError as error:
            raise self._damaged(str(error)) from error
        if note.length != length:
            raise self._damaged(f"{note.length} steps", f"{length}, as many as the episode has")
        return note

    def _document(self, index: int) -> JsonNode:
        if not 0 <= index < len(self._ends):
            raise DataError("no documents")
        start = int(self._ends[index - 1]) if index else 0
        stop = int(self._ends[index])
        if not 0 <= start < stop <= self._bytes.shape[0]:
            raise DataError("a document ends before it begins, or where there is none", found=f"{start} to {stop}")
        return parse_json(read_rows(self._bytes, start, stop, file=self._path, field=f"meta/{_BYTES}").tobytes())

    def _damaged(self, found: str, expected: str | None = None) -> DataError:
        return DataError(
            "sido's annotations do not fit the dataset",
            file=self._path,
            field=f"meta/{_BYTES}",
            found=found,
            expected=expected,
            fix=f"convert it again, or delete meta/{_BYTES} and read it as diffusion_policy's own",
        )


class AnnotationsWriter:
    """The documents of a dataset that is being written; they go to the disk one by one."""

    def __init__(self, meta: Any) -> None:
        self._meta, self._ends = meta, [0]
        self._bytes = meta.create_array(
            _BYTES, shape=(0,), chunks=(1 << 20,), dtype=np.uint8, compressors=DISK_COMPRESSOR, fill_value=0
        )

    def write(self, note: EpisodeNote) -> None:
        self._append(dataclasses.asdict(note))

    def finish(self, info: DatasetInfo, names: list[str], cameras: Mapping[str, str]) -> None:
        """Write the document of the whole; nothing comes after it."""
        whole = {"info": json.loads(info.to_json()), "names": names, "cameras": dict(cameras)}
        self._append({"sido_replay_buffer": _VERSION, **whole})
        ends = np.array(self._ends[1:], dtype=np.int64)
        array = self._meta.create_array(_ENDS, shape=ends.shape, chunks=ends.shape, dtype=np.int64, compressors=None)
        array[:] = ends

    def _append(self, document: Any) -> None:
        text = np.frombuffer(json.dumps(document).encode(), dtype=np.uint8)
        start, stop = self._ends[-1], self._ends[-1] + len(text)
        self._bytes.resize((stop,))
        self._bytes[start:stop] = text
        self._ends.append(stop)
