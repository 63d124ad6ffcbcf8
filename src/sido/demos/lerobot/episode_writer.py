"""Episode after episode into the files of a LeRobot v3.0 dataset, and at the end what tells of them all."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from jaxtyping import UInt8

from sido.arrays import Array
from sido.demos.demo import Demo
from sido.demos.frames import Frames
from sido.demos.lerobot.annotations import DatasetNotes, EpisodeNotes, write_notes
from sido.demos.lerobot.cameras import encode_png
from sido.demos.lerobot.columns import DemoColumns
from sido.demos.lerobot.layout import (
    BOOKKEEPING,
    DATA_PATH,
    EPISODES_PATH,
    INFO_PATH,
    STATS_PATH,
    TASKS_PATH,
    VIDEO_PATH,
    Feature,
)
from sido.demos.lerobot.rolling import RollingTable, RollingVideo
from sido.demos.lerobot.statistics import ImageStatistics, Statistics, VectorStatistics, to_json
from sido.demos.lerobot.tables import data_schema, image_array, number_array, tasks_table
from sido.demos.source import DatasetInfo
from sido.errors import DataError

__all__ = ["EpisodeWriter"]

_CHUNK_SIZE = 1000
_VIDEO_FILE_MB = 200
_PIXELS_PER_MB = 10_000_000  # what a megabyte of H.264 shows at the quality that is written, roughly
_FRAMES_AT_ONCE = 64
_EPISODES_AT_ONCE = 32


class EpisodeWriter:
    """The files of a dataset whose columns are settled. Memory holds one episode, and statistics of fixed size."""

    def __init__(self, root: Path, info: DatasetInfo, columns: DemoColumns, *, data_file_mb: int) -> None:
        self._root, self._info, self._columns, self._data_file_mb = root, info, columns, data_file_mb
        self._rate_hz = info.action_spec.rate_hz
        self._schema = data_schema(columns.features)
        self._statistics = {key: _statistics(feature) for key, feature in columns.features.items()}
        self._tasks: dict[str, int] = {}
        self._notes: dict[str, EpisodeNotes] = {}
        self._frames = 0
        self._rows: list[dict[str, Any]] = []
        self._episodes: pq.ParquetWriter | None = None
        self._open_files = ExitStack()
        self._data = self._open_files.enter_context(
            RollingTable(root, self._schema, file_bytes=data_file_mb << 20, chunk_size=_CHUNK_SIZE)
        )
        self._videos = {
            key: self._open_files.enter_context(self._rolling_video(key))
            for key in columns.cameras
            if columns.features[key].dtype == "video"
        }

    def __enter__(self) -> EpisodeWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._episodes is not None:
            self._episodes.close()
        self._open_files.__exit__(kind, error, trace)

    def add(self, demo: Demo) -> None:
        """Write one episode. Its numbers are checked before any file is touched."""
        if demo.name in self._notes:
            raise DataError("two demonstrations have the same name", found=demo.name, fix="rename one of them")
        self._columns.require_same(DemoColumns.of(demo, video=bool(self._videos)))
        arrays = self._columns.arrays(demo) | self._bookkeeping(demo)
        row: dict[str, Any] = {"episode_index": len(self._notes), "tasks": [demo.task], "length": len(demo)}
        columns = {key: number_array(array) for key, array in arrays.items()}
        stats: dict[str, Statistics] = {key: _statistics(feature) for key, feature in self._columns.features.items()}
        for key, array in arrays.items():
            stats[key].update(array.astype(np.float64))
            self._statistics[key].update(array.astype(np.float64))
        for key, camera in self._columns.cameras.items():
            parts = self._seen(key, stats[key], demo.images[camera])
            if key in self._videos:
                row |= self._add_video(key, parts, len(demo))
            else:
                columns[key] = image_array([encode_png(image) for part in parts for image in part])
        number = self._data.write(
            pa.Table.from_arrays([columns[key] for key in self._schema.names], schema=self._schema)
        )
        row |= {"data/chunk_index": number.chunk_index, "data/file_index": number.file_index}
        row |= {"dataset_from_index": self._frames, "dataset_to_index": self._frames + len(demo)}
        of_episode = to_json({key: seen.result() for key, seen in stats.items()})
        row |= {f"stats/{key}/{name}": value for key, values in of_episode.items() for name, value in values.items()}
        self._add_row(row | {"meta/episodes/chunk_index": 0, "meta/episodes/file_index": 0})
        self._frames += len(demo)
        self._notes[demo.name] = EpisodeNotes.of(demo)

    def finish(self) -> None:
        """Write what tells of the whole."""
        self._flush_rows()
        pq.write_table(tasks_table(self._tasks), self._root / TASKS_PATH)
        stats = to_json({key: seen.result() for key, seen in self._statistics.items()})
        _write_json(self._root / STATS_PATH, stats)
        _write_json(self._root / INFO_PATH, self._describe())
        columns = self._columns
        write_notes(
            self._root,
            DatasetNotes(
                info=self._info.to_json(),
                cameras=columns.cameras,
                recorded=columns.recorded,
                signals=columns.signals,
                fingers=columns.fingers,
                episodes=tuple(self._notes.values()),
            ),
        )

    def _bookkeeping(self, demo: Demo) -> dict[str, Array]:
        steps = np.arange(len(demo))
        columns = {
            "timestamp": steps / self._rate_hz,
            "frame_index": steps,
            "episode_index": np.full_like(steps, len(self._notes)),
            "index": self._frames + steps,
            "task_index": np.full_like(steps, self._tasks.setdefault(demo.task, len(self._tasks))),
        }
        return {key: column.astype(BOOKKEEPING[key])[:, None] for key, column in columns.items()}

    def _seen(self, key: str, of_episode: Statistics, frames: Frames) -> Iterator[UInt8[Array, "N height width 3"]]:
        """The images of a camera, some at a time, taken into the statistics on their way."""
        for start in range(0, len(frames), _FRAMES_AT_ONCE):
            part = frames[start : start + _FRAMES_AT_ONCE]
            of_episode.update(part)
            self._statistics[key].update(part)
            yield part

    def _add_video(self, key: str, parts: Iterator[Array], length: int) -> Mapping[str, Any]:
        number, start_s = self._videos[key].begin_episode()
        for part in parts:
            self._videos[key].append(part)
        return {
            f"videos/{key}/chunk_index": number.chunk_index,
            f"videos/{key}/file_index": number.file_index,
            f"videos/{key}/from_timestamp": start_s,
            f"videos/{key}/to_timestamp": start_s + length / self._rate_hz,
        }

    def _rolling_video(self, key: str) -> RollingVideo:
        pixels = _VIDEO_FILE_MB * _PIXELS_PER_MB
        return RollingVideo(self._root, key, rate_hz=self._rate_hz, file_pixels=pixels, chunk_size=_CHUNK_SIZE)

    def _add_row(self, row: dict[str, Any]) -> None:
        self._rows.append(row)
        if len(self._rows) >= _EPISODES_AT_ONCE:
            self._flush_rows()

    def _flush_rows(self) -> None:
        if not self._rows:
            return
        table = pa.Table.from_pydict({name: [row[name] for row in self._rows] for name in self._rows[0]})
        if self._episodes is None:
            path = self._root / EPISODES_PATH.format(chunk_index=0, file_index=0)
            path.parent.mkdir(parents=True, exist_ok=True)
            self._episodes = pq.ParquetWriter(path, table.schema, compression="snappy")
        self._episodes.write_table(table)
        self._rows.clear()

    def _describe(self) -> dict[str, Any]:
        """`meta/info.json`."""
        features = self._columns.features
        return {
            "codebase_version": "v3.0",
            "robot_type": None,
            "total_episodes": len(self._notes),
            "total_frames": self._frames,
            "total_tasks": len(self._tasks),
            "chunks_size": _CHUNK_SIZE,
            "data_files_size_in_mb": self._data_file_mb,
            "video_files_size_in_mb": _VIDEO_FILE_MB,
            "fps": _whole(self._rate_hz),
            "splits": {"train": f"0:{len(self._notes)}"},
            "data_path": DATA_PATH,
            "video_path": VIDEO_PATH if self._videos else None,
            "features": {key: self._described(feature) for key, feature in features.items()},
        }

    def _described(self, feature: Feature) -> dict[str, Any]:
        names = list(feature.names) or None
        described: dict[str, Any] = {"dtype": feature.dtype, "shape": list(feature.shape), "names": names}
        if feature.dtype == "video":
            height, width, channels = feature.shape
            described["info"] = {
                "video.height": height,
                "video.width": width,
                "video.codec": "h264",
                "video.pix_fmt": "yuv420p",
                "video.is_depth_map": False,
                "video.fps": _whole(self._rate_hz),
                "video.channels": channels,
                "has_audio": False,
            }
        return described


def _statistics(feature: Feature) -> Statistics:
    return ImageStatistics() if feature.is_camera else VectorStatistics(feature.shape[0])


def _whole(rate_hz: float) -> int | float:
    """`fps` is announced as a whole number, and so is it written where it is one."""
    return int(rate_hz) if rate_hz.is_integer() else rate_hz


def _write_json(path: Path, document: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(document, indent=4, ensure_ascii=False) + "\n", encoding="utf-8")
