"""Reading diffusion_policy's replay buffer: sido's own, diffusion_policy's imports, and those of real robots."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, Int64, UInt8

from sido.arrays import Array
from sido.demos.action_spec import ACTION_SPECS, ActionSpec
from sido.demos.demo import Demo
from sido.demos.frames import Frames
from sido.demos.replay_buffer.annotations import Annotations, EpisodeNote
from sido.demos.replay_buffer.store import open_arrays, open_store, read_rows, told
from sido.demos.source import FROM_GRASP, DatasetInfo, Hints
from sido.errors import DataError, SettingError
from sido.geometry import quat_from_axis_angle, wxyz_from_xyzw

__all__ = ["ReplayBufferSource"]

_FORMAT = "diffusion_policy zarr"
_OBJECT = "object_position"
_POSE = "robot_eef_pose"
"""Position and rotation vector, as diffusion_policy's real-robot recordings have it."""
_POSITION = "robot0_eef_pos"
_ORIENTATIONS: dict[str, Callable[[Any], Any]] = {
    "robot0_eef_quat": wxyz_from_xyzw,  # robomimic's
    "robot0_eef_rot_axis_angle": quat_from_axis_angle,  # UMI's
}
_GRIPPERS = ("robot0_gripper_qpos", "robot0_gripper_width", "robot_gripper_qpos", "gripper_position")

_FRAME_WARNING = (
    "the file does not say in which frame positions are: they are taken to be in the robot's base frame "
    "(a robomimic import has them in the world's, which differs by where the robot stands)"
)
_WRIST_WARNING = (
    "robot0_eef_quat is taken as it stands: robosuite records the wrist's, which is turned 90 degrees about z from "
    "that of the grip site that actions move"
)


class ReplayBufferSource:
    """A replay buffer that is open for reading."""

    def __init__(self, path: Path | str, hints: Hints | None = None) -> None:
        self._path, self._hints = Path(path), hints or Hints()
        self._store: Any = open_store(self._path)
        try:
            with told(self._path):
                self._data, meta = open_arrays(self._store, "data"), open_arrays(self._store, "meta")
                self._ends = self._read_ends(meta)
                self._notes = Annotations.open(meta, self._path)
                self._names = (
                    self._notes.names if self._notes else tuple(f"demo_{index}" for index in range(len(self._ends)))
                )
                self._cameras = self._find_cameras()
                self._object_key = self._find_object_key()
                self._info = self._describe()
        except BaseException:
            self.close()
            raise

    @property
    def info(self) -> DatasetInfo:
        return self._info

    @property
    def names(self) -> tuple[str, ...]:
        return self._names

    def length(self, index: int) -> int:
        start, stop = self._span(index)
        return stop - start

    def read(self, index: int) -> Demo:
        start, stop = self._span(index)
        name = self.names[index]
        try:
            note = self._notes.episode(index, stop - start) if self._notes else self._note_by_convention(stop - start)
            empty = {path: np.zeros((stop - start, *shape), dtype) for path, (dtype, shape) in note.empty.items()}
            return Demo(
                name=name,
                actions=self._numbers("action", start, stop),
                action_spec=self._info.action_spec,
                **self._end_effector(start, stop),
                object_position=self._object(start, stop),
                images={camera: self._frames(key, start, stop) for camera, key in self._cameras.items()},
                subtask_signals={signal: self._rows(key, start, stop) for signal, key in note.signals.items()},
                grasp=note.grasp,
                task=note.task,
                recorded=empty | {path: self._rows(key, start, stop) for path, key in note.recorded.items()},
                metadata=note.metadata,
            )
        except DataError as error:
            raise error.at(file=self._path, demo=name) from error.__cause__

    def close(self) -> None:
        self._store.close()

    def _read_ends(self, meta: dict[str, Any]) -> Int64[Array, " E"]:
        """Where each episode stops, checked against every array."""
        if "episode_ends" not in meta:
            raise DataError(
                "an array is missing", field="meta/episode_ends", found=sorted(meta), expected="episode_ends"
            )
        array = meta["episode_ends"]
        if array.ndim != 1 or array.dtype.kind not in "iu":
            raise DataError(
                "wrong shape or type",
                field="meta/episode_ends",
                found=f"{array.dtype}{list(array.shape)}",
                expected="int64[E]",
            )
        ends = read_rows(array, 0, array.shape[0], file=self._path, field="meta/episode_ends").astype(np.int64)
        if len(ends) == 0:
            raise DataError("there are no episodes", field="meta/episode_ends", expected="at least one")
        shrinking = np.flatnonzero(np.diff(ends, prepend=0) <= 0)
        if len(shrinking):
            raise DataError(
                "episode ends must increase",
                field="meta/episode_ends",
                found=f"{ends[shrinking[0]]} for episode {shrinking[0]}",
                expected=f"more than {ends[shrinking[0] - 1] if shrinking[0] else 0}",
                fix="convert the dataset again",
            )
        for key, array in self._data.items():
            if array.ndim == 0 or array.shape[0] != ends[-1]:
                raise DataError(
                    "the array does not end where the last episode does",
                    field=f"data/{key}",
                    found=f"{array.shape[0] if array.ndim else 'no'} rows",
                    expected=f"{ends[-1]}, the last of meta/episode_ends",
                    fix="the dataset was cut off while it was written: convert it again",
                )
        return ends

    def _span(self, index: int) -> tuple[int, int]:
        return int(self._ends[index - 1]) if index else 0, int(self._ends[index])

    def _find_cameras(self) -> dict[str, str]:
        """Camera name -> key: what the annotations say, or every array of RGB images."""
        if self._notes:
            self._notes.require_fits(self._ends)
            cameras = self._notes.cameras
        else:
            images = [key for key, array in self._data.items() if _is_images(array)]
            cameras = {key.removesuffix("_image"): key for key in images}
        if self._hints.cameras is None:
            return cameras
        unknown = sorted(set(self._hints.cameras) - set(cameras))
        if unknown:
            raise SettingError("no such camera", file=self._path, found=unknown, expected=f"some of {sorted(cameras)}")
        return {camera: cameras[camera] for camera in self._hints.cameras}

    def _find_object_key(self) -> str | None:
        """Which array begins with the object's position."""
        wanted = self._hints.object_key
        if wanted == FROM_GRASP:
            return None
        if wanted is None:
            return _OBJECT if _OBJECT in self._data else None
        noted = self._notes.episode(0, self.length(0)).recorded if self._notes else {}
        for key in (noted.get(wanted), wanted, wanted.removeprefix("obs/")):
            if key in self._data and self._data[key].ndim == 2 and self._data[key].shape[1] >= 3:
                return key
        fitting = [key for key, array in self._data.items() if array.ndim == 2 and array.shape[1] >= 3]
        raise SettingError(
            "no such array with an object position", file=self._path, found=wanted, expected=f"one of {fitting}"
        )

    def _describe(self) -> DatasetInfo:
        chosen, cameras, key = self._hints.action_spec, tuple(self._cameras), self._object_key
        named = None if key is None else f"data/{key}"
        if self._notes:
            info = DatasetInfo.from_json(self._notes.info_json, format=_FORMAT, cameras=cameras)
            source = info.object_position_source if key == _OBJECT and info.object_position_source else named
            return dataclasses.replace(info, action_spec=chosen or info.action_spec, object_position_source=source)
        spec, warnings = (chosen, []) if chosen else self._guess_spec()
        warnings.append(_FRAME_WARNING)
        if "robot0_eef_quat" in self._data:
            warnings.append(_WRIST_WARNING)
        if named is None:
            warnings.append("the file has no object position: if an array begins with it, name it with --object-key")
        return DatasetInfo(
            format=_FORMAT, action_spec=spec, cameras=cameras, object_position_source=named, warnings=tuple(warnings)
        )

    def _guess_spec(self) -> tuple[ActionSpec, list[str]]:
        """What the actions most likely are, by their size and range, and a warning that says so."""
        shape = self._array("action").shape
        if len(shape) != 2:
            raise DataError("wrong shape", field="data/action", found=list(shape), expected="[N, A]")
        width = shape[1]
        if width == 10:
            name, why = "rot6d-absolute", "10 numbers: position, two rows of R, gripper"
        elif width == 7:
            bounded = np.abs(self._numbers("action", 0, int(self._ends[-1]))).max() <= 1 + 1e-4
            name = "osc-delta" if bounded else "osc-absolute"
            why = f"7 numbers, {'all' if bounded else 'not all'} within -1 and 1"
        else:
            raise DataError(
                "it is not clear what the actions mean" if width > 2 else "these actions move a point in the plane",
                field="data/action",
                found=f"{width} numbers",
                expected="an end-effector's position, rotation and gripper: 7 numbers, or 10 with a 6D rotation",
                fix="Push-T and its like have no grasp to augment"
                if width <= 2
                else "name the spec with --action-spec",
            )
        return ACTION_SPECS[name], [f"the file does not say what its actions mean: taken as {name!r} ({why})"]

    def _end_effector(self, start: int, stop: int) -> dict[str, Float[Array, "T _"]]:
        """Position, orientation and gripper, by whichever names the file has."""
        gripper = self._numbers(self._first_of("the state of the gripper", *_GRIPPERS), start, stop)
        if _POSITION not in self._data and _POSE in self._data:
            pose = self._numbers(_POSE, start, stop)
            if pose.shape[1] != 6:
                raise DataError("wrong shape", field=f"data/{_POSE}", found=list(pose.shape), expected="[T, 6]")
            position, quat = pose[:, :3], quat_from_axis_angle(pose[:, 3:])
        else:
            position = self._numbers(self._first_of("the position of the end-effector", _POSITION, _POSE), start, stop)
            key = self._first_of("the orientation of the end-effector", *_ORIENTATIONS)
            rotation, size = self._numbers(key, start, stop), 4 if key == "robot0_eef_quat" else 3
            if rotation.shape[1] != size:
                raise DataError("wrong shape", field=f"data/{key}", found=list(rotation.shape), expected=f"[T, {size}]")
            quat = _ORIENTATIONS[key](rotation)
        return {"eef_position": position, "eef_quat_wxyz": quat, "gripper": gripper}

    def _object(self, start: int, stop: int) -> Float[Array, "T 3"] | None:
        return None if self._object_key is None else self._numbers(self._object_key, start, stop)[:, :3]

    def _note_by_convention(self, length: int) -> EpisodeNote:
        """Where sido did not write the file: every array that is nothing else was recorded, under its own name."""
        known = {"action", _POSITION, _POSE, _OBJECT, *_ORIENTATIONS, *_GRIPPERS}
        recorded = {key: key for key, array in self._data.items() if key not in known and not _is_images(array)}
        return EpisodeNote(length, task="", grasp=None, metadata={}, signals={}, recorded=recorded, empty={})

    def _frames(self, key: str, start: int, stop: int) -> Frames:
        array = self._array(key)
        _, height, width, channels = array.shape

        def read(steps: Int64[Array, " N"]) -> UInt8[Array, "N height width 3"]:
            wanted, places = np.unique(steps, return_inverse=True)
            if len(wanted) == 0:
                return np.empty((0, height, width, channels), dtype=np.uint8)
            with told(self._path, f"data/{key}"):
                return np.asarray(array.oindex[start + wanted])[places]

        return Frames((stop - start, height, width, channels), read)

    def _first_of(self, meaning: str, *keys: str) -> str:
        for key in keys:
            if key in self._data:
                return key
        raise DataError(
            f"{meaning} is missing",
            field="data",
            found=sorted(self._data),
            expected=" or ".join(keys),
            fix="sido needs end-effector pose and gripper; rename the arrays if they are there under other names",
        )

    def _array(self, key: str) -> Any:
        return self._data[self._first_of("an array", key)]

    def _rows(self, key: str, start: int, stop: int) -> Array:
        return read_rows(self._array(key), start, stop, file=self._path, field=f"data/{key}")

    def _numbers(self, key: str, start: int, stop: int) -> Float[Array, "T _"]:
        """Rows of a low-dimensional array, float64; a bare column counts as one number a step."""
        rows = self._rows(key, start, stop)
        if rows.ndim == 1:
            rows = rows[:, None]
        if rows.ndim != 2 or rows.dtype.kind not in "biuf":
            raise DataError(
                "wrong shape or type",
                field=f"data/{key}",
                found=f"{rows.dtype}{list(rows.shape)}",
                expected="numbers [T, n]",
            )
        return rows.astype(np.float64)


def _is_images(array: Any) -> bool:
    return bool(array.ndim == 4 and array.shape[-1] == 3 and array.dtype == np.uint8)
