"""Writing LeRobot datasets, version 3.0, that lerobot opens and sido reads back."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from sido.atomic import atomic_path
from sido.demos.demo import Demo
from sido.demos.lerobot.columns import DemoColumns
from sido.demos.lerobot.episode_writer import EpisodeWriter
from sido.demos.source import DatasetInfo
from sido.errors import DataError

__all__ = ["LeRobotWriter"]


class LeRobotWriter:
    """A LeRobot v3.0 dataset being written; the folder appears under its name when the block ends well.

    Images go into the parquet files as PNG, bit for bit; with `video` into H.264 files, smaller and with loss.
    State, action and object position become float32, as LeRobot's users expect; recorded arrays keep their type.
    What LeRobot has no place for goes to `meta/sido.json` and `meta/sido_episodes.jsonl`, and comes back when read.
    A parquet file is followed by a next one once it is larger than `data_file_mb`.
    """

    def __init__(
        self, path: Path, info: DatasetInfo, *, overwrite: bool = False, video: bool = False, data_file_mb: int = 100
    ) -> None:
        self.path, self.info = path, info
        self._overwrite, self._video, self._data_file_mb = overwrite, video, data_file_mb
        self._stack = ExitStack()
        self._root: Path | None = None
        self._episodes: EpisodeWriter | None = None

    def __enter__(self) -> LeRobotWriter:
        self._root = self._stack.enter_context(atomic_path(self.path, overwrite=self._overwrite))
        (self._root / "meta").mkdir(parents=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._stack.__exit__(kind, error, trace)
            return
        with self._stack:  # closes the files, then gives the folder its name; removes it if that fails
            if self._episodes is None:
                raise DataError("no demonstration was written", file=self.path)
            self._episodes.finish()

    def write(self, demo: Demo) -> None:
        assert self._root is not None, "a writer is used in a with block"
        try:
            self.info.action_spec.require_same(demo.action_spec, here="the dataset", there="the demonstration")
            if self._episodes is None:
                columns = DemoColumns.of(demo, video=self._video)
                writer = EpisodeWriter(self._root, self.info, columns, data_file_mb=self._data_file_mb)
                self._episodes = self._stack.enter_context(writer)
            self._episodes.add(demo)
        except DataError as error:
            raise error.at(file=self.path, demo=demo.name) from error.__cause__
