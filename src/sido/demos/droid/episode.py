"""One DROID episode: what is in `trajectory.h5`, and which of its steps count."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from jaxtyping import Float, Int64

from sido.arrays import Array
from sido.demos.hdf5_file import hdf5_errors
from sido.errors import DataError

__all__ = ["FILE", "Arm", "Layout", "read_arm", "read_attributes", "read_layout", "read_recorded"]

FILE = "trajectory.h5"

_STATE, _ACTION = "observation/robot_state", "action"
_WIDTHS = {"cartesian_position": 6, "gripper_position": 1}
_NEEDED = {f"{group}/{name}": width for group in (_STATE, _ACTION) for name, width in _WIDTHS.items()}
_ENABLED, _SKIPPED = "observation/controller_info/movement_enabled", "observation/timestamp/skip_action"
_CAMERA_TYPES = "observation/camera_type"
_WRIST = 0  # in camera_type


@dataclass(frozen=True)
class Layout:
    """What has to be known of an episode before its arrays are read."""

    rows: int
    """In the file: the loop of the recording, whether the robot was moved or not."""
    steps: Int64[Array, " T"]
    """The rows through which the robot was moved. In the others the action is a placeholder."""
    serials: dict[str, str]
    """Camera ("wrist", "ext1", "ext2", as DROID's own metadata calls them) -> serial number."""


@dataclass(frozen=True)
class Arm:
    """The robot and its commands; positions in metres, angles in radians, in the robot's base frame."""

    state: Float[Array, "T 6"]
    """Position and extrinsic xyz Euler angles."""
    gripper: Float[Array, "T 1"]
    """0 open, 1 closed."""
    command: Float[Array, "T 7"]
    """The same six numbers of the pose that the robot is sent to, and the gripper's."""


def read_layout(folder: Path) -> Layout:
    """Look at an episode's file without reading its arrays."""
    path = folder / FILE
    with hdf5_errors(path), h5py.File(path, "r", locking="best-effort") as file:
        lengths = {name: _require(file, name, width, path) for name, width in _NEEDED.items()}
        rows = min(lengths.values())
        if max(lengths.values()) - rows > 1:  # a recording that was killed lacks the action of its last row
            raise DataError("lengths differ", file=path, found=lengths, expected="as many actions as observations")
        serials = _serials(file[_CAMERA_TYPES], path) if _CAMERA_TYPES in file else {}
        steps = np.flatnonzero(_moved(file, rows, path))
    if len(steps) == 0:
        raise DataError(
            "the robot is never moved", file=path, field=_ENABLED, found=f"{rows} rows", fix="leave the episode out"
        )
    return Layout(rows, steps, serials)


def read_arm(folder: Path, steps: Int64[Array, " T"]) -> Arm:
    """What a demonstration consists of, at these rows."""
    path = folder / FILE
    with hdf5_errors(path), h5py.File(path, "r", locking="best-effort") as file:
        state, gripper, command, closing = (
            np.asarray(file[f"{group}/{name}"][:], dtype=np.float64)[steps].reshape(len(steps), width)
            for group in (_STATE, _ACTION)
            for name, width in _WIDTHS.items()
        )
    return Arm(state, gripper, np.concatenate([command, closing], axis=1))


def read_recorded(folder: Path, layout: Layout, steps: Int64[Array, " T"]) -> dict[str, Array]:
    """Every other array that has a row for each row of the arm's, by its path.

    DROID appends to an array only when there is something to append: one with fewer rows cannot be told which steps
    they belong to, and stays behind.
    """
    path, recorded = folder / FILE, dict[str, Array]()
    with hdf5_errors(path), h5py.File(path, "r", locking="best-effort") as file:

        def visit(name: str, item: Any) -> None:
            numbers = isinstance(item, h5py.Dataset) and item.ndim > 0 and item.dtype.kind in "biuf"
            if numbers and name not in _NEEDED and layout.rows <= len(item) <= layout.rows + 1:
                recorded[name] = np.asarray(item[:])[steps]

        file.visititems(visit)
    return recorded


def read_attributes(folder: Path) -> dict[str, str]:
    """What the file says once: task, user, building, success; and the JSON record beside it, if there is one."""
    path = folder / FILE
    with hdf5_errors(path), h5py.File(path, "r", locking="best-effort") as file:
        attributes = {name: _text(value) for name, value in file.attrs.items()}
    for record in sorted(file for file in folder.glob("metadata*.json") if file.is_file()):
        attributes[record.name] = record.read_text(encoding="utf-8", errors="replace")
    return attributes


def _require(file: h5py.File, name: str, width: int, path: Path) -> int:
    """How many rows an array has that must be there."""
    if name not in file or not isinstance(file[name], h5py.Dataset):
        raise DataError(
            "an array is missing",
            file=path,
            field=name,
            found=f"the top level has {sorted(file.keys())}",
            expected=f"[T, {width}]",
            fix="sido reads DROID's raw trajectory.h5, which holds Cartesian positions of state and action",
        )
    dataset: h5py.Dataset = file[name]
    shape = dataset.shape
    if len(shape) not in (1, 2) or (shape[1] if len(shape) == 2 else 1) != width or dataset.dtype.kind not in "iuf":
        raise DataError(
            "wrong shape or type",
            file=path,
            field=name,
            found=f"{dataset.dtype}{list(shape)}",
            expected=f"numbers [T, {width}]",
        )
    if shape[0] == 0:
        raise DataError("the episode is empty", file=path, field=name, fix="leave the episode out")
    return shape[0]


def _moved(file: h5py.File, rows: int, path: Path) -> Array:
    """Which rows moved the robot; all of them where the file does not say, as in DROID's own loader."""
    for name, moving in ((_ENABLED, True), (_SKIPPED, False)):
        if name in file:
            flags = np.asarray(file[name][:]).astype(bool)
            if flags.ndim != 1 or len(flags) < rows:
                raise DataError("wrong shape", file=path, field=name, found=list(flags.shape), expected=[rows])
            return flags[:rows] == moving
    return np.ones(rows, dtype=bool)


def _serials(types: Any, path: Path) -> dict[str, str]:
    """Which camera is which: the one on the wrist by its type, the others in the order of their numbers."""
    if not isinstance(types, h5py.Group):
        raise DataError(
            "wrong shape or type", file=path, field=_CAMERA_TYPES, found="an array", expected="a group of cameras"
        )
    for serial, array in types.items():
        is_array = isinstance(array, h5py.Dataset)
        if not is_array or array.ndim != 1 or array.dtype.kind not in "biuf":
            raise DataError(
                "wrong shape or type",
                file=path,
                field=f"{_CAMERA_TYPES}/{serial}",
                found=f"{array.dtype}{list(array.shape)}" if is_array else "a group",
                expected="whole numbers [T]",
            )
    wrist = sorted(serial for serial in types if len(types[serial]) and int(types[serial][0]) == _WRIST)[:1]
    others = sorted(set(types) - set(wrist))
    return dict(
        zip(["wrist"] * len(wrist) + [f"ext{place + 1}" for place in range(len(others))], wrist + others, strict=True)
    )


def _text(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
