"""Rows of a parquet file, without reading the rest of it."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

import numpy as np
from jaxtyping import Int64

from sido.arrays import Array
from sido.errors import DataError, MissingExtraError, SidoError

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
    import pyarrow.types as pt
except ModuleNotFoundError as error:
    raise MissingExtraError("reading and writing LeRobot datasets", "pyarrow", "data") from error
except ImportError as error:  # it is there, and does not suit what else is there: pyarrow 26 wants numpy 2
    raise SidoError(
        "pyarrow is installed but does not load", found=str(error), fix="pip install 'sido[data]' 'pyarrow<26'"
    ) from error

__all__ = ["ParquetRows", "numbers"]

_BATCH_ROWS = 64
_BUFFER_BYTES = 1 << 20


class ParquetRows:
    """A parquet file to read by row ranges; it is open only while something is read from it.

    Only the row groups and columns that are asked for are touched, and those a batch at a time: a file whose images
    all stand in one row group of gigabytes needs no more memory than one with small groups. The footer is kept.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def _footer(self) -> pq.FileMetaData:
        with _told_as_data_error(self.path):
            return pq.read_metadata(self.path)

    @cached_property
    def _group_ends(self) -> Int64[Array, " groups"]:
        footer = self._footer
        return np.cumsum([footer.row_group(group).num_rows for group in range(footer.num_row_groups)], dtype=np.int64)

    def __len__(self) -> int:
        return self._footer.num_rows

    @cached_property
    def columns(self) -> tuple[str, ...]:
        with _told_as_data_error(self.path), self._open() as file:
            return tuple(file.schema_arrow.names)

    def table(self, columns: Sequence[str], start: int = 0, stop: int | None = None) -> pa.Table:
        """Rows `[start, stop)` of some columns."""
        batches = [batch for _, batch in self.batches(columns, start, len(self) if stop is None else stop)]
        return pa.Table.from_batches(batches) if batches else pa.Table.from_pydict({name: [] for name in columns})

    def batches(self, columns: Sequence[str], start: int, stop: int) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Rows `[start, stop)` of some columns in short stretches, each with the number of its first row."""
        missing = [name for name in columns if name not in self.columns]
        if missing:
            raise DataError("a column is missing", file=self.path, field=missing[0], found=", ".join(self.columns))
        groups = np.flatnonzero((self._group_ends > start) & (np.r_[0, self._group_ends[:-1]] < stop)).tolist()
        if start >= stop or not groups:
            return
        row = 0 if groups[0] == 0 else int(self._group_ends[groups[0] - 1])
        with _told_as_data_error(self.path), self._open() as file:
            for batch in file.iter_batches(_BATCH_ROWS, groups, columns, use_threads=False):
                first, last = max(start - row, 0), min(stop - row, batch.num_rows)
                if first < last:
                    yield row + first, batch.slice(first, last - first)
                row += batch.num_rows
                if row >= stop:
                    return

    def _open(self) -> pq.ParquetFile:
        return pq.ParquetFile(self.path, metadata=self._footer, buffer_size=_BUFFER_BYTES, pre_buffer=False)


def numbers(column: pa.ChunkedArray, shape: Sequence[int]) -> Array:
    """A column of scalars, vectors or nested lists as one array `[rows, *shape]`."""
    rows, flat = len(column), column.combine_chunks()
    while pt.is_list(flat.type) or pt.is_large_list(flat.type) or pt.is_fixed_size_list(flat.type):
        flat = flat.flatten()
    nulls = max(column.null_count, flat.null_count)  # rows without a value, or entries without one
    if nulls:
        raise DataError("values are missing", found=f"{nulls} nulls")
    values = flat.to_numpy(zero_copy_only=False)
    if values.dtype.kind not in "biuf":
        raise DataError("not numbers", found=f"a column of {column.type}", expected="numbers or booleans")
    if values.size != rows * int(np.prod(shape)):
        raise DataError("wrong size", found=f"{values.size} numbers in {rows} rows", expected=f"{list(shape)} a row")
    return values.reshape(rows, *shape)


@contextmanager
def _told_as_data_error(path: Path) -> Generator[None, None, None]:
    """What pyarrow and the operating system say of a bad file, in sido's words."""
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        raise DataError(
            "the parquet file cannot be read",
            file=path,
            found=" ".join(str(error).split())[:200],
            fix="download or copy the file again; a file that was never closed (lerobot's finalize()) is lost",
        ) from error
