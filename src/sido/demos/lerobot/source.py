"""Reading LeRobot datasets, version 3.0 and 2.1."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from sido.arrays import Array
from sido.demos.demo import Demo
from sido.demos.frames import Frames
from sido.demos.lerobot.annotations import read_notes
from sido.demos.lerobot.cameras import frames_in_rows, frames_in_video
from sido.demos.lerobot.episodes import Episode, read_episodes
from sido.demos.lerobot.layout import ACTION, BOOKKEEPING, STATE, DatasetLayout
from sido.demos.lerobot.meaning import Meaning
from sido.demos.lerobot.parquet import ParquetRows, numbers
from sido.demos.source import DatasetInfo, Hints
from sido.demos.video import VideoFile
from sido.errors import DataError

__all__ = ["LeRobotSource"]

_NO_HINTS = Hints()
_ORDER = ("episode_index", "frame_index")
"""The columns that say of which episode and step a row is."""


class LeRobotSource:
    """A LeRobot dataset, open for reading. Opening reads `meta/` only.

    Where sido wrote it, `meta/sido.json` says what everything means. Where not, conventions do, each with a warning
    in `info.warnings`, and hints override them.
    """

    def __init__(self, path: Path, hints: Hints = _NO_HINTS) -> None:
        self.path = path
        self._layout = DatasetLayout.read(path)
        self._episodes = read_episodes(self._layout)
        self._notes = read_notes(path, [episode.length for episode in self._episodes])
        self._names = (
            tuple(episode.name for episode in self._notes.episodes)
            if self._notes
            else tuple(f"episode_{episode.index}" for episode in self._episodes)
        )
        self._meaning = Meaning.of(self._layout, self._notes, hints)
        # Footers and tables of contents only: no file stays open, so a fork of this process does no harm.
        self._rows: dict[Path, ParquetRows] = {}
        self._row_ranges: dict[Path, Mapping[int, tuple[int, int]]] = {}
        self._videos: dict[Path, VideoFile] = {}

    @property
    def info(self) -> DatasetInfo:
        return self._meaning.info

    @property
    def names(self) -> tuple[str, ...]:
        return self._names

    def length(self, index: int) -> int:
        return self._episodes[index].length

    def read(self, index: int) -> Demo:
        episode, name = self._episodes[index], self.names[index]
        try:
            return self._demo(index, episode, name)
        except DataError as error:
            raise error.at(file=episode.data, demo=name) from error.__cause__

    def close(self) -> None:
        self._rows.clear()
        self._row_ranges.clear()
        self._videos.clear()

    def _demo(self, index: int, episode: Episode, name: str) -> Demo:
        meaning, noted = self._meaning, self._notes.episodes[index] if self._notes else None
        if episode.length == 0:
            raise DataError("the demonstration is empty", field="length", fix="leave the episode out")
        rows, start = self._locate(episode)
        arrays = self._arrays(episode, rows, start)
        state = arrays[STATE].astype(np.float64)
        return Demo(
            name=name,
            actions=arrays[ACTION].astype(np.float64),
            action_spec=self.info.action_spec,
            eef_position=state[:, list(meaning.state.position)],
            eef_quat_wxyz=meaning.state.quat_wxyz(state),
            gripper=state[:, list(meaning.state.gripper)],
            object_position=meaning.object_position(arrays),
            images={camera: self._frames(episode, key, rows, start) for camera, key in meaning.cameras.items()},
            subtask_signals={subtask: arrays[key][:, 0].astype(bool) for key, subtask in meaning.signals.items()},
            grasp=noted.grasp if noted else None,
            task=episode.task,
            recorded=meaning.recorded(arrays, episode.length),
            metadata=noted.metadata if noted else {},
        )

    def _arrays(self, episode: Episode, rows: ParquetRows, start: int) -> dict[str, Array]:
        """Every column of numbers, `[length, *shape]`."""
        shapes = {
            key: feature.shape
            for key, feature in self._layout.features.items()
            if feature.is_number and key not in BOOKKEEPING
        }
        order = [key for key in _ORDER if key in rows.columns]
        shapes |= dict.fromkeys(order, ())
        table = rows.table(list(shapes), start, start + episode.length)
        arrays: dict[str, Array] = {}
        for key, shape in shapes.items():
            try:
                arrays[key] = numbers(table.column(key), shape)
            except DataError as error:
                raise error.at(field=key) from error.__cause__
        for key in order:
            _require_in_order(arrays.pop(key), key, episode, start)
        return arrays

    def _locate(self, episode: Episode) -> tuple[ParquetRows, int]:
        """The file of an episode and the first of its rows there; the rows themselves say whose they are."""
        path = episode.data
        rows = self._rows.setdefault(path, ParquetRows(path))
        if path not in self._row_ranges:
            owner = numbers(rows.table(["episode_index"]).column("episode_index"), ())
            whose, first, count = np.unique(owner, return_index=True, return_counts=True)
            triples = zip(whose.tolist(), first.tolist(), count.tolist(), strict=True)
            self._row_ranges[path] = {key: (at, much) for key, at, much in triples}
        start, found = self._row_ranges[path].get(episode.index, (0, 0))
        if found != episode.length:
            raise DataError(
                "the rows of the episode are not all there",
                file=path,
                found=f"{found} rows of episode {episode.index}",
                expected=f"{episode.length}, as the list of episodes says",
                fix="download or copy the dataset again",
            )
        return rows, start

    def _frames(self, episode: Episode, key: str, rows: ParquetRows, start: int) -> Frames:
        feature = self._layout.features[key]
        height, width = feature.image_size or (0, 0)  # the cameras of a meaning have one
        shape = (episode.length, height, width, 3)
        if feature.dtype == "image":
            return frames_in_rows(rows, key, start, shape)
        segment = episode.videos[key]
        video = self._videos.setdefault(segment.path, VideoFile(segment.path))
        return frames_in_video(video, segment.start_s, self._layout.rate_hz, shape)


def _require_in_order(column: Array, key: str, episode: Episode, start: int) -> None:
    """Raise unless an episode's rows, from row `start` of its file, are its own and in the order of time."""
    expected = np.full(episode.length, episode.index) if key == "episode_index" else np.arange(episode.length)
    wrong = np.flatnonzero(column != expected)
    if wrong.size:
        raise DataError(
            "the rows of the episode are not in order",
            field=key,
            found=f"{column[wrong[0]]} in row {start + wrong[0]}",
            expected=str(expected[wrong[0]]),
            fix="sort the rows of the file by episode_index and frame_index, or download the dataset again",
        )
