"""Files that a next one takes over from when they are full: LeRobot 3.0 keeps many episodes in each."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from jaxtyping import UInt8

from sido.arrays import Array
from sido.demos.lerobot.layout import DATA_PATH, VIDEO_PATH
from sido.demos.video import VideoWriter

__all__ = ["FileNumber", "RollingTable", "RollingVideo"]


@dataclass(frozen=True)
class FileNumber:
    """Which file: they are counted within folders of `chunk_size` files."""

    chunk_index: int = 0
    file_index: int = 0

    def next(self, chunk_size: int) -> FileNumber:
        if self.file_index + 1 < chunk_size:
            return FileNumber(self.chunk_index, self.file_index + 1)
        return FileNumber(self.chunk_index + 1, 0)

    def path(self, root: Path, template: str, **names: str) -> Path:
        path = root / template.format(chunk_index=self.chunk_index, file_index=self.file_index, **names)
        path.parent.mkdir(parents=True, exist_ok=True)
        return path


class RollingTable:
    """`data/`: one row group an episode, so that reading one episode's images touches no other's."""

    def __init__(self, root: Path, schema: pa.Schema, *, file_bytes: int, chunk_size: int) -> None:
        self._root, self._schema, self._file_bytes, self._chunk_size = root, schema, file_bytes, chunk_size
        self._number = FileNumber()
        self._writer: pq.ParquetWriter | None = None

    def __enter__(self) -> RollingTable:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def write(self, table: pa.Table) -> FileNumber:
        """Append an episode, and say to which file."""
        if self._writer is not None and self._path.stat().st_size >= self._file_bytes:
            self._writer.close()
            self._writer, self._number = None, self._number.next(self._chunk_size)
        if self._writer is None:
            # Text and numbers compress; PNG does not, and a dictionary of images would only cost time.
            self._writer = pq.ParquetWriter(self._path, self._schema, compression="snappy", use_dictionary=False)
        self._writer.write_table(table, row_group_size=max(table.num_rows, 1))
        return self._number

    @property
    def _path(self) -> Path:
        return self._number.path(self._root, DATA_PATH)


class RollingVideo:
    """`videos/<key>/`: the episodes of one camera, one after the other."""

    def __init__(self, root: Path, key: str, *, rate_hz: float, file_pixels: int, chunk_size: int) -> None:
        self._root, self._key, self._rate_hz = root, key, rate_hz
        self._file_pixels, self._chunk_size = file_pixels, chunk_size
        self._number = FileNumber()
        self._stack = ExitStack()
        self._video: VideoWriter | None = None
        self._pixels = 0

    def __enter__(self) -> RollingVideo:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._video = None
        self._stack.__exit__(kind, error, trace)

    def begin_episode(self) -> tuple[FileNumber, float]:
        """Say which file the next frames go to, and when they begin there, in seconds."""
        if self._video is not None and self._pixels >= self._file_pixels:
            self._video = None
            self._stack.close()
            self._number, self._pixels = self._number.next(self._chunk_size), 0
        if self._video is None:
            path = self._number.path(self._root, VIDEO_PATH, video_key=self._key)
            self._video = self._stack.enter_context(VideoWriter.create(path, self._rate_hz))
        return self._number, self._video.frame_count / self._rate_hz

    def append(self, images: UInt8[Array, "N height width 3"]) -> None:
        """Add frames to the episode that was begun last."""
        assert self._video is not None, "begin_episode comes first"
        self._video.append(images)
        self._pixels += int(np.prod(images.shape[:3]))
