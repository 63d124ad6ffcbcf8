"""Where each episode of a LeRobot dataset lies: the two versions differ in this and in nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sido.arrays import Array
from sido.demos.json_document import JsonNode
from sido.demos.lerobot.layout import INFO_PATH, STATS_PATH, DatasetLayout, read_json, read_jsonl
from sido.demos.lerobot.parquet import ParquetRows
from sido.errors import DataError

__all__ = ["Episode", "VideoSegment", "action_extremes", "read_episodes"]

_REDOWNLOAD = "download or copy the dataset again, with all its files"


@dataclass(frozen=True)
class VideoSegment:
    """The stretch of a video file that shows one episode."""

    path: Path
    start_s: float
    """On the file's own clock; files of version 3.0 hold many episodes."""


@dataclass(frozen=True)
class Episode:
    index: int
    length: int
    tasks: tuple[str, ...]
    data: Path
    """The parquet file with its rows; files of version 3.0 hold many episodes."""
    videos: Mapping[str, VideoSegment]
    """By feature."""

    @property
    def task(self) -> str:
        return "; ".join(self.tasks)


def read_episodes(layout: DatasetLayout) -> tuple[Episode, ...]:
    """Every episode, in order; what the files say of their number and existence is checked here."""
    video_keys = [key for key, feature in layout.features.items() if feature.dtype == "video" and feature.image_size]
    reader = _episodes_v21 if layout.version == "v2.1" else _episodes_v30
    episodes = reader(layout, video_keys)
    found = {"total_episodes": len(episodes), "total_frames": sum(episode.length for episode in episodes)}
    for name, value in found.items():
        if value != getattr(layout, name):
            raise DataError(
                "the dataset's own counts disagree",
                file=layout.root / INFO_PATH,
                field=name,
                found=f"{getattr(layout, name)}, where the list of episodes has {value}",
                fix=_REDOWNLOAD,
            )
    for path in dict.fromkeys(file for episode in episodes for file in _files(episode)):  # each once, in order
        if not _is_there(path):
            raise DataError("a file of the dataset is missing", file=path, fix=_REDOWNLOAD)
    return episodes


def action_extremes(layout: DatasetLayout, key: str) -> tuple[Array, Array] | None:
    """Lowest and highest value of every entry of a vector, from the dataset's statistics; None where it has none."""
    whole, by_episode = layout.root / STATS_PATH, layout.root / "meta/episodes_stats.jsonl"
    if whole.is_file():
        file, stats = whole, [read_json(whole)]
    elif by_episode.is_file():
        file = by_episode
        stats = [part for line in read_jsonl(by_episode) if (part := line.get("stats")) is not None]
    else:
        return None
    try:
        ranges = [(_row(entry["min"]), _row(entry["max"])) for part in stats if (entry := part.get(key)) is not None]
        if not ranges:
            return None
        low, high = (np.array(side) for side in zip(*ranges, strict=True))
        if low.size == 0 or high.size == 0:
            raise ValueError("no entries")
    except (DataError, ValueError) as error:  # ValueError: rows of different lengths, or empty
        raise DataError(
            "the statistics are damaged",
            file=file,
            field=key,
            found=str(error),
            fix="name the meaning of the actions with --action-spec, and they are not needed; or "
            "download or copy the file again",
        ) from error
    return low.min(axis=0), high.max(axis=0)


def _row(node: JsonNode) -> list[float]:
    return [entry.number() for entry in node.each()]


def _is_there(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name that is too long
        return False


def _files(episode: Episode) -> list[Path]:
    return [episode.data, *(segment.path for segment in episode.videos.values())]


def _episodes_v30(layout: DatasetLayout, video_keys: list[str]) -> tuple[Episode, ...]:
    folder = layout.root / "meta" / "episodes"
    paths = sorted(folder.glob("*/*.parquet"))
    if not paths:
        raise DataError("a file of the dataset is missing", file=folder, expected="*/*.parquet", fix=_REDOWNLOAD)
    columns = ["episode_index", "length", "tasks", "data/chunk_index", "data/file_index"]
    columns += [
        f"videos/{key}/{name}" for key in video_keys for name in ("chunk_index", "file_index", "from_timestamp")
    ]
    nodes = [
        (path, JsonNode(row, f"row {number}"))
        for path in paths
        for number, row in enumerate(ParquetRows(path).table(columns).to_pylist())
    ]
    return _in_order(_told(path, lambda node: _episode_v30(layout, video_keys, node), node) for path, node in nodes)


def _episode_v30(layout: DatasetLayout, video_keys: list[str], row: JsonNode) -> Episode:
    return Episode(
        index=row["episode_index"].whole(at_least=0),
        length=row["length"].whole(at_least=0),
        tasks=_tasks(row),
        data=layout.data_file(**_numbers_v30(row, "data")),
        videos={
            key: VideoSegment(
                layout.video_file(key, **_numbers_v30(row, f"videos/{key}")),
                row[f"videos/{key}/from_timestamp"].number(),
            )
            for key in video_keys
        },
    )


def _numbers_v30(row: JsonNode, prefix: str) -> dict[str, int]:
    return {name: int(row[f"{prefix}/{name}"].number()) for name in ("chunk_index", "file_index")}


def _episodes_v21(layout: DatasetLayout, video_keys: list[str]) -> tuple[Episode, ...]:
    path = layout.root / "meta" / "episodes.jsonl"
    lines = read_jsonl(path)
    return _in_order(_told(path, lambda node: _episode_v21(layout, video_keys, node), line) for line in lines)


def _episode_v21(layout: DatasetLayout, video_keys: list[str], line: JsonNode) -> Episode:
    index = line["episode_index"].whole(at_least=0)
    numbers = {"episode_chunk": index // layout.chunk_size, "episode_index": index}
    return Episode(
        index=index,
        length=line["length"].whole(at_least=0),
        tasks=_tasks(line),
        data=layout.data_file(**numbers),
        videos={key: VideoSegment(layout.video_file(key, **numbers), 0.0) for key in video_keys},
    )


def _tasks(node: JsonNode) -> tuple[str, ...]:
    tasks = node.get("tasks")
    return () if tasks is None else tasks.texts()


def _told(path: Path, read: Callable[[JsonNode], Episode], node: JsonNode) -> Episode:
    try:
        return read(node)
    except DataError as error:
        if error.file is not None:  # a path, which is about info.json
            raise
        raise DataError(
            "the list of episodes is damaged",
            file=path,
            field=error.field,
            found=error.found,
            expected=error.expected,
            fix=_REDOWNLOAD,
        ) from error


def _in_order(episodes: Iterable[Episode]) -> tuple[Episode, ...]:
    return tuple(sorted(episodes, key=lambda episode: episode.index))
