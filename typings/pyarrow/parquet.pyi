from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pyarrow import RecordBatch, Schema, Table

class RowGroupMetaData:
    num_rows: int

class FileMetaData:
    num_rows: int
    num_row_groups: int
    def row_group(self, index: int) -> RowGroupMetaData: ...

class ParquetFile:
    metadata: FileMetaData
    schema_arrow: Schema
    def __init__(
        self,
        source: Path,
        *,
        metadata: FileMetaData | None = ...,
        buffer_size: int = ...,
        pre_buffer: bool = ...,
    ) -> None: ...
    def __enter__(self) -> ParquetFile: ...
    def __exit__(self, *arguments: object) -> None: ...
    def iter_batches(
        self,
        batch_size: int = ...,
        row_groups: Sequence[int] | None = ...,
        columns: Sequence[str] | None = ...,
        use_threads: bool = ...,
    ) -> Iterator[RecordBatch]: ...

class ParquetWriter:
    def __init__(
        self,
        where: Path,
        schema: Schema,
        *,
        compression: str | dict[str, str] = ...,
        use_dictionary: bool | list[str] = ...,
    ) -> None: ...
    def write_table(self, table: Table, row_group_size: int | None = ...) -> None: ...
    def close(self) -> None: ...

def read_metadata(where: Path) -> FileMetaData: ...
def write_table(table: Table, where: Path, **options: Any) -> None: ...
def read_schema(where: Path) -> Schema: ...
def read_table(where: Path, columns: Sequence[str] | None = ..., *, use_threads: bool = ...) -> Table: ...
