"""Logs of real poses: CSV, parquet or HDF5, as tracks."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from jaxtyping import Float

from sido.arrays import Array
from sido.errors import DataError, MissingExtraError, SettingError
from sido.predict.history import Belief
from sido.predict.track import Track

__all__ = ["COLUMNS", "LOG_FORMATS", "read_tracks"]

COLUMNS = ("time_s", "x_m", "y_m", "z_m")
"""What a log must have; `episode` beside them tells apart what does not follow on each other."""
_SHORTEST_S = 1.0


def read_tracks(path: Path, *, longest_gap_s: float = 0.25) -> list[Track]:
    """The tracks of one log: split where an episode ends, and where there is no pose for longer than `longest_gap_s`.

    A row that is not finite, or whose time does not rise, counts as missing; so does a pose that is further from the
    one before than anything moves (`Belief`). Tracks under a second are left out.

    Raises:
        SidoError: a file that is none of the formats, lacks a column, or holds no track.
    """
    reader = LOG_FORMATS.get(path.suffix.lower())
    if reader is None:
        raise SettingError(
            "no format of a log of poses", file=path, found=path.suffix or "no suffix", expected=", ".join(LOG_FORMATS)
        )
    if not path.is_file():
        raise DataError("no such file", file=path)
    columns = reader(path)
    missing = [name for name in COLUMNS if name not in columns]
    if missing:
        raise DataError(
            "columns are missing",
            file=path,
            found=", ".join(columns) or "none",
            expected=", ".join(COLUMNS),
            fix="name them so: seconds and metres, base frame; `episode` beside them is optional",
        )
    lengths = {name: len(columns[name]) for name in (*COLUMNS, *(["episode"] if "episode" in columns else []))}
    if len(set(lengths.values())) != 1:
        raise DataError("columns of different lengths", file=path, found=lengths)
    times = columns["time_s"]
    positions = np.stack([columns[name] for name in COLUMNS[1:]], axis=-1)
    episode = columns.get("episode", np.zeros(len(times)))
    begins = np.flatnonzero(np.diff(episode, prepend=np.nan) != 0.0)
    parts = zip(np.split(times, begins[1:]), np.split(positions, begins[1:]), strict=True)
    tracks = [track for part in parts for track in _tracks(*part, longest_gap_s)]
    if not tracks:
        raise DataError(
            "no second of poses without a gap",
            file=path,
            found=f"{len(times)} rows",
            expected=f"gaps of {longest_gap_s:g} s at most",
        )
    return tracks


def _tracks(times: Float[Array, " N"], positions: Float[Array, "N 3"], longest_gap_s: float) -> list[Track]:
    belief = Belief()
    fine = np.isfinite(times) & np.isfinite(positions).all(axis=-1)
    times, positions = times[fine], positions[fine]
    if len(times) < 2:
        return []
    rising = np.concatenate([[True], times[1:] > np.maximum.accumulate(times)[:-1]])
    times, positions = times[rising], positions[rising]
    steps = np.diff(times)
    far = np.linalg.norm(np.diff(positions, axis=0), axis=-1) > belief.slack_m + belief.highest_speed_mps * steps
    ends = np.flatnonzero(far | (steps > longest_gap_s)) + 1
    pieces = zip(np.split(times, ends), np.split(positions, ends), strict=True)
    return [Track(t, p) for t, p in pieces if len(t) > 1 and t[-1] - t[0] >= _SHORTEST_S]


def _from_csv(path: Path) -> dict[str, Array]:
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    names = [name for name in (*COLUMNS, "episode") if rows and name in rows[0]]
    try:
        return {name: np.array([float(row[name] or "nan") for row in rows]) for name in names}
    except (TypeError, ValueError) as error:
        raise DataError("not numbers", file=path, found=str(error)) from error


def _from_parquet(path: Path) -> dict[str, Array]:
    try:
        import pyarrow.parquet as pq
        from pyarrow import ArrowException
    except ImportError as error:
        raise MissingExtraError("reading parquet", "pyarrow", "data") from error
    try:
        table = pq.read_table(path)
    except (ArrowException, OSError) as error:
        raise DataError("not a parquet file that can be read", file=path, found=str(error)) from error
    return _numbers(
        path,
        {
            name: table.column(name).combine_chunks().to_numpy(zero_copy_only=False)
            for name in (*COLUMNS, "episode")
            if name in table.column_names
        },
    )


def _from_hdf5(path: Path) -> dict[str, Array]:
    import h5py

    try:
        with h5py.File(path, "r") as file:
            found = {name: file[name] for name in (*COLUMNS, "episode") if name in file}
            return _numbers(path, {name: item[()] for name, item in found.items() if isinstance(item, h5py.Dataset)})
    except OSError as error:
        raise DataError("not an HDF5 file that can be read", file=path, found=str(error)) from error


def _numbers(path: Path, columns: Mapping[str, Array]) -> dict[str, Array]:
    try:
        return {name: np.asarray(values, dtype=float).reshape(-1) for name, values in columns.items()}
    except (TypeError, ValueError) as error:
        raise DataError("not numbers", file=path, found=str(error)) from error


LOG_FORMATS: dict[str, Callable[[Path], dict[str, Array]]] = {
    ".csv": _from_csv,
    ".parquet": _from_parquet,
    ".h5": _from_hdf5,
    ".hdf5": _from_hdf5,
}
"""By ending."""
