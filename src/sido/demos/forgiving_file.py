"""A file for HDF5 to write to, that goes on when the disk does not, and tells afterwards.

The HDF5 library cannot close a file whose last blocks the disk refuses: it raises, keeps the file open, and crashes the
process as that ends. So what the disk refuses is kept in memory from then on, HDF5 closes in peace, and `error` says
why the file is worthless.
"""

from __future__ import annotations

import io
from pathlib import Path
from types import TracebackType
from typing import Any

__all__ = ["ForgivingFile"]


class ForgivingFile(io.RawIOBase):
    """A new file, open for writing and reading back."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._file = path.open("xb+", buffering=0)
        self._place = 0
        self._refused: list[tuple[int, bytes]] = []
        self.error: OSError | None = None
        """What the disk said, the first time that it refused."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._file.close()
        super().close()

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._size()}[whence]
        self._place = start + offset
        return self._place

    def tell(self) -> int:
        return self._place

    def truncate(self, size: int | None = None, /) -> int:
        length = self._place if size is None else size
        if self.error is None:
            try:
                self._file.truncate(length)
            except OSError as error:
                self.error = error
        return length

    def write(self, data: Any, /) -> int:
        content, done = memoryview(data).cast("B"), 0
        if self.error is None:
            try:
                self._file.seek(self._place)
                while done < len(content):
                    done += self._file.write(content[done:]) or 0
            except OSError as error:
                self.error = error
        if self.error is not None:
            self._refused.append((self._place + done, bytes(content[done:])))
        self._place += len(content)
        return len(content)

    def readinto(self, buffer: Any, /) -> int:
        wanted = memoryview(buffer).cast("B")
        self._file.seek(self._place)
        read = self._file.readinto(wanted) or 0
        if self._refused:
            wanted[read:] = bytes(len(wanted) - read)
            for start, content in self._refused:  # later ones lie over earlier ones
                first, last = max(start, self._place), min(start + len(content), self._place + len(wanted))
                if first < last:
                    wanted[first - self._place : last - self._place] = content[first - start : last - start]
            read = max(read, min(len(wanted), self._size() - self._place))
        self._place += read
        return read

    def _size(self) -> int:
        ends = (start + len(content) for start, content in self._refused)
        return max(self._file.seek(0, io.SEEK_END), *ends, 0)
