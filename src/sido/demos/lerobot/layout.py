"""What a LeRobot dataset says of itself: `meta/info.json`, and where its files lie."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sido.demos.json_document import JsonNode, mended_by, parse_json
from sido.errors import DataError

__all__ = [
    "ACTION",
    "BOOKKEEPING",
    "DATA_PATH",
    "ENVIRONMENT_STATE",
    "EPISODES_PATH",
    "IMAGES_PREFIX",
    "INFO_PATH",
    "STATE",
    "STATS_PATH",
    "TASKS_PATH",
    "VIDEO_PATH",
    "DatasetLayout",
    "Feature",
    "read_json",
    "read_jsonl",
]

INFO_PATH = "meta/info.json"
STATS_PATH = "meta/stats.json"
TASKS_PATH = "meta/tasks.parquet"
EPISODES_PATH = "meta/episodes/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
DATA_PATH = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
VIDEO_PATH = "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4"

STATE = "observation.state"
ENVIRONMENT_STATE = "observation.environment_state"
IMAGES_PREFIX = "observation.images."
ACTION = "action"
BOOKKEEPING = {
    "timestamp": "float32",
    "frame_index": "int64",
    "episode_index": "int64",
    "index": "int64",
    "task_index": "int64",
}
"""The columns that every dataset has beside its features, and their types."""

_REDOWNLOAD = "download or copy the dataset again"
_CONVERTER = (
    "convert it with lerobot itself: python -m lerobot.datasets.v30.convert_dataset_v21_to_v30 "
    "(datasets older than v2.1: first with lerobot's convert_dataset_v20_to_v21)"
)


@dataclass(frozen=True)
class Feature:
    """One entry of `features`: what a column (or a video) holds for every step."""

    dtype: str
    """A numpy name, "string", "image" or "video"."""
    shape: tuple[int, ...]
    names: tuple[str, ...] = ()
    """Of the entries of a vector, or of the axes of an image; empty where the file names nothing."""
    is_depth: bool = False

    @property
    def is_camera(self) -> bool:
        return self.dtype in ("image", "video")

    @property
    def is_number(self) -> bool:
        return not self.is_camera and self.dtype.startswith(("float", "int", "uint", "bool"))

    @property
    def image_size(self) -> tuple[int, int] | None:
        """Height and width of an RGB camera, whichever way round the shape is told; None for any other."""
        if not self.is_camera or self.is_depth or len(self.shape) != 3:
            return None
        channels_first = self.names[:1] in (("channel",), ("channels",)) or self.shape[2] != 3
        height, width, channels = self.shape[1:] + self.shape[:1] if channels_first else self.shape
        return (height, width) if channels == 3 else None


@dataclass(frozen=True)
class DatasetLayout:
    """`meta/info.json` of a dataset in version 3.0 or 2.1."""

    root: Path
    version: str
    """ "v3.0" or "v2.1"."""
    rate_hz: float
    features: Mapping[str, Feature]
    total_episodes: int
    total_frames: int
    data_path: str
    video_path: str | None
    chunk_size: int

    @classmethod
    def read(cls, root: Path) -> DatasetLayout:
        path = root / INFO_PATH
        if not path.is_file():
            raise DataError(
                "not a LeRobot dataset",
                file=root,
                found=f"no {INFO_PATH}",
                fix="name the folder that holds meta/ and data/",
            )
        try:
            with mended_by(_REDOWNLOAD):
                return cls._of(root, read_json(path))
        except DataError as error:
            raise error.at(file=path) from error.__cause__

    @classmethod
    def _of(cls, root: Path, document: JsonNode) -> DatasetLayout:
        version = document["codebase_version"].text()
        if not version.startswith(("v3.", "v2.1")):
            raise DataError(
                "this version of LeRobot's format is not read",
                field="codebase_version",
                found=version,
                expected="v3.0 or v2.1",
                fix=_CONVERTER,
            )
        video_path, chunk_size = document.get("video_path"), document.get("chunks_size")
        return cls(
            root=root,
            version=version,
            rate_hz=document["fps"].number(above=0.0),
            features={key: _feature(fields) for key, fields in document["features"].items()},
            total_episodes=document["total_episodes"].whole(at_least=0),
            total_frames=document["total_frames"].whole(at_least=0),
            data_path=document["data_path"].text(),
            video_path=None if video_path is None else video_path.text(),
            chunk_size=1000 if chunk_size is None else chunk_size.whole(at_least=1),
        )

    def data_file(self, **numbers: int) -> Path:
        """The parquet file of some episode, by the numbers that this version's template asks for."""
        return self.root / _filled(self.data_path, self.root, numbers)

    def video_file(self, key: str, **numbers: int) -> Path:
        """The video file of some episode and camera."""
        if self.video_path is None:
            raise DataError("there is a video feature but no video_path", file=self.root / INFO_PATH, field=key)
        return self.root / _filled(self.video_path, self.root, {"video_key": key, **numbers})


def _filled(template: str, root: Path, values: Mapping[str, object]) -> str:
    try:
        filled = template.format(**values)
    except (KeyError, IndexError, ValueError, AttributeError, TypeError, MemoryError) as error:
        raise DataError(
            "the template of a path is damaged",
            file=root / INFO_PATH,
            found=repr(template),
            expected=f"{list(values)} in it",
        ) from error
    path = Path(filled)  # as text: where links lead is not asked, for all files of the Hugging Face cache are links
    if path.is_absolute() or ".." in path.parts:
        raise DataError("a path leads out of the dataset", file=root / INFO_PATH, found=repr(filled))
    if any(character == "\0" or "\ud800" <= character <= "\udfff" for character in filled):
        raise DataError("this is no path of a file", file=root / INFO_PATH, found=repr(filled), fix=_REDOWNLOAD)
    return filled


def _feature(fields: JsonNode) -> Feature:
    details = [(fields.get("info"), "video.is_depth_map"), (fields.get("video_info"), "video.is_depth_map")]
    flags = [node.get(name) for node, long_name in details if node is not None for name in ("is_depth_map", long_name)]
    names = fields.get("names")
    return Feature(
        dtype=fields["dtype"].text(),
        shape=tuple(size.whole(at_least=0) for size in fields["shape"].each()),
        names=() if names is None else _flat_names(names),
        is_depth=any(flag.flag() for flag in flags if flag is not None),
    )


def _flat_names(names: JsonNode) -> tuple[str, ...]:
    """`["x", "y"]`, `{"motors": ["x", "y"]}` and `{"x": 0, "y": 1}` all occur."""
    if isinstance(names.value, dict):
        entries = dict(names.items())
        if all(isinstance(entry.value, int) for entry in entries.values()):
            return tuple(sorted(entries, key=lambda name: entries[name].whole()))
        return tuple(name for entry in entries.values() for name in _flat_names(entry))
    return tuple(str(entry.value) for entry in names.each())


def read_json(path: Path) -> JsonNode:
    """A JSON document of the dataset."""
    return _parse(_text(path), path, "the whole file")


def read_jsonl(path: Path) -> list[JsonNode]:
    """A JSON document a line."""
    lines = _text(path).split("\n")  # not `splitlines`: text may hold other separators, which JSON need not escape
    return [_parse(line, path, f"line {number}") for number, line in enumerate(lines, start=1) if line.strip()]


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError("cannot be read", file=path, found=str(error), fix=_REDOWNLOAD) from error


def _parse(text: str, path: Path, place: str) -> JsonNode:
    try:
        with mended_by(_REDOWNLOAD):
            return JsonNode(parse_json(text, place=place).value, "" if place == "the whole file" else place)
    except DataError as error:
        raise error.at(file=path) from error.__cause__
