"""Where each episode of a LeRobot dataset lies: the two versions differ in this and in nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sido.arrays import Array
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
        if not path.is_file():
            raise DataError("a file of the dataset is missing", file=path, fix=_REDOWNLOAD)
    return episodes


def action_extremes(layout: DatasetLayout, key: str) -> tuple[Array, Array] | None:
    """Lowest and highest value of every entry of a feature, from the dataset's statistics; None where it has none."""
    whole, by_episode = layout.root / STATS_PATH, layout.root / "meta/episodes_stats.jsonl"
    if whole.is_file():
        stats = [read_json(whole)]
    elif by_episode.is_file():
        stats = [line.get("stats", {}) for line in read_jsonl(by_episode)]
    else:
        return None
    try:
        ranges = [(entry[key]["min"], entry[key]["max"]) for entry in stats if key in entry]
        if not ranges:
            return None
        low, high = (np.array(side, dtype=np.float64) for side in zip(*ranges, strict=True))
    except (KeyError, TypeError, ValueError) as error:
        raise DataError("the statistics are damaged", file=whole, field=key, found=repr(error)) from error
    return low.min(axis=0), high.max(axis=0)


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
    rows: list[dict[str, Any]] = []
    for path in paths:
        rows += ParquetRows(path).table(columns).to_pylist()
    return tuple(
        Episode(
            index=row["episode_index"],
            length=row["length"],
            tasks=tuple(row["tasks"] or ()),
            data=layout.data_file(chunk_index=row["data/chunk_index"], file_index=row["data/file_index"]),
            videos={
                key: VideoSegment(
                    layout.video_file(
                        key,
                        chunk_index=int(row[f"videos/{key}/chunk_index"]),
                        file_index=int(row[f"videos/{key}/file_index"]),
                    ),
                    float(row[f"videos/{key}/from_timestamp"]),
                )
                for key in video_keys
            },
        )
        for row in sorted(rows, key=lambda row: row["episode_index"])
    )


def _episodes_v21(layout: DatasetLayout, video_keys: list[str]) -> tuple[Episode, ...]:
    path = layout.root / "meta" / "episodes.jsonl"
    try:
        return tuple(
            Episode(
                index=line["episode_index"],
                length=line["length"],
                tasks=tuple(line["tasks"]),
                data=layout.data_file(**_numbers_v21(layout, line["episode_index"])),
                videos={
                    key: VideoSegment(layout.video_file(key, **_numbers_v21(layout, line["episode_index"])), 0.0)
                    for key in video_keys
                },
            )
            for line in sorted(read_jsonl(path), key=lambda line: line["episode_index"])
        )
    except (KeyError, TypeError) as error:
        raise DataError("the list of episodes is damaged", file=path, found=repr(error), fix=_REDOWNLOAD) from error


def _numbers_v21(layout: DatasetLayout, episode: int) -> dict[str, int]:
    return {"episode_chunk": episode // layout.chunk_size, "episode_index": episode}
