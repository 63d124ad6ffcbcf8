"""The parquet tables of LeRobot v3.0: their column types, and arrays in those types."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from jaxtyping import Shaped

from sido.arrays import Array
from sido.demos.lerobot.layout import Feature

__all__ = ["data_schema", "image_array", "number_array", "tasks_table"]


def data_schema(features: Mapping[str, Feature]) -> pa.Schema:
    """Of `data/`: videos have no column. The metadata are those by which Hugging Face's viewer knows images."""
    stored = {key: feature for key, feature in features.items() if feature.dtype != "video"}
    described = {"info": {"features": {key: _described(feature) for key, feature in stored.items()}}}
    schema = pa.schema([(key, _type(feature)) for key, feature in stored.items()])
    return schema.with_metadata({"huggingface": json.dumps(described)})


def number_array(array: Shaped[Array, "T size"]) -> pa.Array:
    """A column of scalars, or of vectors of fixed size; vectors of one entry are scalars, as in lerobot."""
    flat = pa.array(np.ascontiguousarray(array).reshape(-1))
    return flat if array.shape[1] == 1 else pa.FixedSizeListArray.from_arrays(flat, array.shape[1])


def image_array(encoded: Sequence[bytes]) -> pa.Array:
    """A column of images; the paths are the names that lerobot gives the files that it embeds."""
    paths = [f"frame-{step:06d}.png" for step in range(len(encoded))]
    arrays = [pa.array(encoded, pa.binary()), pa.array(paths, pa.string())]
    return pa.StructArray.from_arrays(arrays, ["bytes", "path"])


def tasks_table(tasks: Mapping[str, int]) -> pa.Table:
    """`meta/tasks.parquet`: a pandas frame whose index is the task's text, which lerobot looks up by."""
    table = pa.Table.from_pydict(
        {"task_index": pa.array(list(tasks.values()), pa.from_numpy_dtype(np.dtype(np.int64))), "task": list(tasks)}
    )
    column = {"metadata": None}
    pandas = {
        "index_columns": ["task"],
        "column_indexes": [],
        "columns": [
            {"name": "task_index", "field_name": "task_index", "pandas_type": "int64", "numpy_type": "int64", **column},
            {"name": "task", "field_name": "task", "pandas_type": "unicode", "numpy_type": "object", **column},
        ],
        "creator": {"library": "sido", "version": "1"},
        "pandas_version": "2.0.0",
    }
    return table.replace_schema_metadata({"pandas": json.dumps(pandas)})


def _type(feature: Feature) -> pa.DataType:
    if feature.dtype == "image":
        return pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    number = pa.from_numpy_dtype(np.dtype(feature.dtype))
    return number if feature.shape == (1,) else pa.list_(number, feature.shape[0])


def _described(feature: Feature) -> dict[str, Any]:
    if feature.dtype == "image":
        return {"_type": "Image"}
    value = {"dtype": feature.dtype, "_type": "Value"}
    return value if feature.shape == (1,) else {"feature": value, "length": feature.shape[0], "_type": "List"}
