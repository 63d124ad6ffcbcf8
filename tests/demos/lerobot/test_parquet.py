from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sido.demos.lerobot.parquet import ParquetRows, numbers
from sido.errors import DataError

ROWS = 300


def write(path: Path, group: int) -> ParquetRows:
    table = pa.table({"number": np.arange(ROWS), "a.b": np.arange(ROWS) * 2.0, "a.b.c": ["text"] * ROWS})
    pq.write_table(table, path, row_group_size=group)
    return ParquetRows(path)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(group=st.integers(1, 400), start=st.integers(0, ROWS), count=st.integers(0, ROWS))
def test_any_stretch_of_rows_is_that_of_the_whole_table(group: int, start: int, count: int, tmp_path: Path):
    rows = write(tmp_path / "table.parquet", group)
    stop = min(start + count, ROWS)
    assert len(rows) == ROWS
    table = rows.table(["a.b", "number"], start, stop)
    assert table.column("number").to_pylist() == list(range(start, stop))
    assert table.column("a.b").to_pylist() == [2.0 * row for row in range(start, stop)]
    for first, batch in rows.batches(["number"], start, stop):
        assert batch.column("number")[0].as_py() == first
        assert batch.num_rows <= 64


def test_row_groups_that_are_not_asked_for_are_not_read(tmp_path: Path):
    path = tmp_path / "table.parquet"
    write(path, 100)
    group = pq.read_metadata(path).row_group(0).column(0)
    content = bytearray(path.read_bytes())
    begin = group.dictionary_page_offset or group.data_page_offset
    content[begin : begin + group.total_compressed_size] = bytes(group.total_compressed_size)
    path.write_bytes(content)
    rows = ParquetRows(path)
    assert rows.table(["number"], 100, 300).num_rows == 200
    with pytest.raises(DataError, match=r"table.parquet: the parquet file cannot be read"):
        rows.table(["number"], 99, 300)


def test_a_missing_column_is_told_what_there_is(tmp_path: Path):
    rows = write(tmp_path / "table.parquet", 100)
    with pytest.raises(DataError, match=r"oops: a column is missing; found number, a.b, a.b.c"):
        rows.table(["number", "oops"])


@pytest.mark.parametrize(
    "kind",
    [pa.list_(pa.list_(pa.float64())), pa.list_(pa.list_(pa.float64(), 3), 2), pa.large_list(pa.list_(pa.float64()))],
)
def test_nested_lists_become_one_array(kind: pa.DataType):
    values = np.arange(24.0).reshape(4, 2, 3)
    column = pa.chunked_array([pa.array(values[:3].tolist(), kind), pa.array(values[3:].tolist(), kind)])
    np.testing.assert_array_equal(numbers(column, (2, 3)), values)
    with pytest.raises(DataError, match=r"wrong size; found 24 numbers in 4 rows; expected \[7\] a row"):
        numbers(column, (7,))


def test_slices_of_fixed_lists_keep_their_place():
    column = pa.chunked_array([pa.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], pa.list_(pa.float64(), 2)).slice(1, 2)])
    np.testing.assert_array_equal(numbers(column, (2,)), [[3.0, 4.0], [5.0, 6.0]])
