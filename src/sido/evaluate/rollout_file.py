"""Rollouts in a parquet file: a row for each moment, so that any tool that reads tables can ask it anything.

    seed, step, ending     which episode, which moment of it, how it ended
    eef_position, ...      the arrays of `Rollout`, vectors as lists

The last row of an episode has nothing for what belongs to an action. What an episode has besides (fault, period, turns)
stands in the file's metadata under "sido", as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sido.arrays import Array
from sido.atomic import atomic_path
from sido.errors import DataError, MissingExtraError
from sido.evaluate.rollout import MOMENTS, STEPS, Rollout

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
    import pyarrow.types as pt
except ImportError as error:
    raise MissingExtraError("logging rollouts", "pyarrow", "data") from error

__all__ = ["read_about", "read_rollouts", "write_rollouts"]

_KEY = b"sido"


def write_rollouts(path: Path, rollouts: Sequence[Rollout], about: Mapping[str, Any]) -> None:
    """Write them; the file appears whole or not at all.

    Args:
        path: Ends in `.parquet`.
        rollouts: At least one.
        about: What else is to be remembered of them, as JSON has it.
    """
    moments = [len(rollout) + 1 for rollout in rollouts]
    columns: dict[str, Any] = {
        "seed": np.repeat([rollout.seed for rollout in rollouts], moments),
        "step": np.concatenate([np.arange(count, dtype=np.int32) for count in moments]),
        "ending": pa.array(np.repeat([rollout.ending for rollout in rollouts], moments)).dictionary_encode(),
    }
    for name in (*MOMENTS, *STEPS):
        arrays = [getattr(rollout, name) for rollout in rollouts]
        columns[name] = _column(arrays, last_is_missing=name in STEPS)
    episodes = [
        {
            "seed": rollout.seed,
            "ending": rollout.ending,
            "fault": rollout.fault,
            "period_s": rollout.period_s,
            "steps": len(rollout),
            "turns_s": rollout.turns_s.tolist(),
        }
        for rollout in rollouts
    ]
    table = pa.table(columns)
    table = table.replace_schema_metadata({_KEY: json.dumps({**about, "episodes": episodes}).encode()})
    with atomic_path(path, overwrite=True) as partial:
        pq.write_table(table, partial, compression="zstd")


def read_about(path: Path) -> dict[str, Any]:
    """What a file says of itself, without its rows."""
    try:
        return json.loads(pq.read_schema(path).metadata[_KEY])
    except (OSError, pa.ArrowException, KeyError, TypeError, ValueError) as error:
        raise _damaged(path, error) from error


def read_rollouts(path: Path) -> Iterator[Rollout]:
    """Them, in the order in which they were written."""
    about = read_about(path)
    try:
        table = pq.read_table(path, columns=[*MOMENTS, *STEPS], use_threads=False)
        arrays = {name: _array(table.column(name)) for name in (*MOMENTS, *STEPS)}
        start = 0
        for episode in about["episodes"]:
            steps = int(episode["steps"])
            rows = {name: array[start : start + steps + (name in MOMENTS)] for name, array in arrays.items()}
            start += steps + 1
            yield Rollout(
                seed=int(episode["seed"]),
                ending=episode["ending"],
                fault=episode["fault"],
                period_s=float(episode["period_s"]),
                turns_s=np.array(episode["turns_s"], dtype=np.float32),
                **rows,
            )
    except (OSError, pa.ArrowException, KeyError, TypeError, ValueError, DataError) as error:
        raise _damaged(path, error) from error


def _column(arrays: Sequence[Array], *, last_is_missing: bool) -> Any:
    """One column of all episodes; with nothing (NaN in vectors) behind each of them, if the last row has no value."""
    parts = list(arrays)
    if last_is_missing:
        nothing = np.nan if parts[0].ndim > 1 else 0
        parts = [np.concatenate([part, np.full((1, *part.shape[1:]), nothing, dtype=part.dtype)]) for part in parts]
    rows = np.concatenate(parts)
    if rows.ndim > 1:
        return pa.FixedSizeListArray.from_arrays(pa.array(rows.reshape(-1)), rows.shape[1])
    missing = np.zeros(len(rows), dtype=np.bool_)
    missing[np.cumsum([len(part) for part in parts]) - 1] = last_is_missing
    return pa.array(rows, mask=missing)


def _array(column: Any) -> Array:
    """The column as an array; whatever stands in the rows that have no value."""
    rows = column.combine_chunks()
    if pt.is_fixed_size_list(rows.type):
        return rows.flatten().to_numpy(zero_copy_only=False).reshape(len(rows), -1)
    return rows.fill_null(False if pt.is_boolean(rows.type) else 0).to_numpy(zero_copy_only=False)


def _damaged(path: Path, error: Exception) -> DataError:
    return DataError(
        "the rollouts cannot be read",
        file=path,
        found=" ".join(str(error).split())[:200],
        fix="delete the file: they are then played again",
    )
