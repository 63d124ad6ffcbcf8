"""Writing diffusion_policy's replay buffer, episode by episode."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from jaxtyping import Shaped

from sido.arrays import Array
from sido.atomic import atomic_path, scratch_folder
from sido.demos.demo import Demo
from sido.demos.replay_buffer.annotations import AnnotationsWriter, EpisodeNote
from sido.demos.replay_buffer.store import DISK_COMPRESSOR, is_zip, new_group, pack
from sido.demos.source import DatasetInfo
from sido.errors import DataError, SettingError
from sido.geometry import xyzw_from_wxyz

__all__ = ["ReplayBufferWriter"]

_CHUNK_BYTES = 1 << 20
_IMAGES_AT_ONCE = 64
_OWN_KEYS = ("action", "robot0_eef_pos", "robot0_eef_quat", "robot0_gripper_qpos", "object_position")


class ReplayBufferWriter:
    """A new `.zarr` folder or `.zarr.zip`, laid out as diffusion_policy's own robomimic import does.

    Poses, gripper and actions become float32, as that import has it; everything else keeps its type. Memory holds one
    demonstration's arrays and a few images. Where a demonstration lacks an array or a signal that others have, its
    rows there are zeros, which take no space; `ReplayBufferSource` knows that they are not there.
    """

    def __init__(self, path: Path | str, info: DatasetInfo, overwrite: bool = False) -> None:
        self._path, self._info, self._overwrite = Path(path), info, overwrite
        if not self._path.name.endswith((".zarr", ".zarr.zip")):
            raise SettingError(
                "not the name of a zarr", file=path, found=self._path.name, expected="an ending .zarr or .zarr.zip"
            )
        self._open = ExitStack()
        self._folder = self._partial = self._path
        self._data: Any = None
        self._meta: Any = None
        self._notes: AnnotationsWriter | None = None
        self._arrays: dict[str, Any] = {}
        self._owners: dict[str, str] = {key: key for key in _OWN_KEYS}
        self._ends: list[int] = []
        self._names: list[str] = []
        self._layout: tuple[str, ...] | None = None
        self._cameras: tuple[str, ...] = ()

    def __enter__(self) -> ReplayBufferWriter:
        with ExitStack() as opening:
            self._partial = opening.enter_context(atomic_path(self._path, overwrite=self._overwrite))
            self._folder = self._partial
            if is_zip(self._path):
                # A zip only grows, while a growing array rewrites its last chunk: pack it at the end.
                self._folder = opening.enter_context(scratch_folder(self._path))
            root = new_group(self._folder)
            self._data, self._meta = root.create_group("data"), root.create_group("meta")
            self._notes = AnnotationsWriter(self._meta)
            self._open = opening.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            with self._open:
                self._finish()
        else:
            self._open.__exit__(kind, error, trace)

    def write(self, demo: Demo) -> None:
        """Append a demonstration. One that is refused is left out, and others may follow it."""
        if self._notes is None:
            raise SettingError("the writer is not open", file=self._path, fix="use it in a `with` block")
        try:
            self._require_like_the_others(demo)
            signals = {name: self._key(f"signal {name}", f"subtask.{name}") for name in demo.subtask_signals}
            full = [path for path, array in demo.recorded.items() if array.size]
            recorded = {path: self._key(f"recorded {path}", path.removeprefix("obs/")) for path in full}
            rows = {
                **_canonical(demo),
                **{key: np.asarray(demo.subtask_signals[name]) for name, key in signals.items()},
                **{key: np.asarray(demo.recorded[path]) for path, key in recorded.items()},
            }
            for key, array in rows.items():
                self._require_same_kind(key, array.dtype, array.shape[1:])
            self._append(demo, rows)
        except DataError as error:
            raise error.at(file=self._path, demo=demo.name) from error.__cause__
        self._notes.write(EpisodeNote.of(demo, signals, recorded))
        self._layout, self._cameras = self._layout or _layout(demo), tuple(demo.images)
        self._names.append(demo.name)
        self._ends.append(self._length + len(demo))

    @property
    def _length(self) -> int:
        return self._ends[-1] if self._ends else 0

    def _append(self, demo: Demo, rows: Mapping[str, Array]) -> None:
        start, stop = self._length, self._length + len(demo)
        for camera, frames in demo.images.items():  # first: reading an image is what may still fail
            array = self._column(self._camera_key(camera), np.dtype(np.uint8), frames.shape[1:], chunk_rows=1)
            array.resize((stop, *array.shape[1:]))
            for first in range(0, len(demo), _IMAGES_AT_ONCE):
                images = frames[first : first + _IMAGES_AT_ONCE]
                array[start + first : start + first + len(images)] = images
        for key, values in rows.items():
            array = self._column(key, values.dtype, values.shape[1:])
            array.resize((stop, *array.shape[1:]))
            array[start:stop] = values

    def _require_like_the_others(self, demo: Demo) -> None:
        """What a policy is trained on must be there in every demonstration, or in none."""
        demo.action_spec.require_same(self._info.action_spec, here="the demonstration", there="the dataset")
        if demo.name in self._names:
            raise DataError("there are two demonstrations of this name", fix="rename one")
        if self._layout not in (None, _layout(demo)):
            raise DataError(
                "the demonstrations differ in what they show",
                found=" ".join(_layout(demo)),
                expected=f"{' '.join(self._layout or ())}, as in {self._names[0]!r}",
                fix="leave this demonstration out, or read only the cameras that all have",
            )
        for camera, frames in demo.images.items():
            self._require_same_kind(self._camera_key(camera), np.dtype(np.uint8), frames.shape[1:])

    def _camera_key(self, camera: str) -> str:
        return self._key(f"camera {camera}", f"{camera}_image")

    def _key(self, owner: str, wanted: str) -> str:
        """The name under `data` of what `owner` describes: `wanted`, made fit for a file and unlike any other."""
        base = re.sub(r"[^A-Za-z0-9_.-]", ".", wanted).strip(".") or "unnamed"
        key, count = base, 1
        while self._owners.setdefault(key, owner) != owner:
            count += 1
            key = f"{base}_{count}"
        return key

    def _require_same_kind(self, key: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
        """Raise unless rows of this kind can be stored under this name, after those that are there already."""
        if dtype.kind not in "biufcSU":
            raise DataError("this kind of data cannot be stored", field=key, found=dtype, expected="numbers or text")
        array = self._arrays.get(key)
        if array is not None and (array.dtype, array.shape[1:]) != (dtype, shape):
            raise DataError(
                "the demonstrations differ in type or shape",
                field=key,
                found=f"{dtype}{['T', *shape]}",
                expected=f"{array.dtype}{['T', *array.shape[1:]]}, as before",
                fix="leave this demonstration out, or write it to another dataset",
            )

    def _column(self, key: str, dtype: np.dtype[Any], shape: tuple[int, ...], chunk_rows: int | None = None) -> Any:
        """The array of this name, made where it is new, with zeros for the episodes before."""
        if key not in self._arrays:
            row_bytes = max(1, dtype.itemsize * int(np.prod(shape)))
            self._arrays[key] = self._data.create_array(
                key,
                shape=(self._length, *shape),
                chunks=(chunk_rows or max(1, _CHUNK_BYTES // row_bytes), *(max(1, size) for size in shape)),
                dtype=dtype,
                compressors=DISK_COMPRESSOR,
                fill_value=None if dtype.kind in "SU" else 0,
            )
        return self._arrays[key]

    def _finish(self) -> None:
        if not self._ends or self._layout is None or self._notes is None:
            raise DataError("a dataset needs at least one demonstration", file=self._path)
        for array in self._arrays.values():
            array.resize((self._length, *array.shape[1:]))
        ends = np.array(self._ends, dtype=np.int64)
        array = self._meta.create_array(
            "episode_ends", shape=ends.shape, chunks=ends.shape, dtype=np.int64, compressors=None
        )
        array[:] = ends
        self._notes.finish(self._info, self._names, {camera: self._camera_key(camera) for camera in self._cameras})
        if self._folder != self._partial:
            pack(self._folder, self._partial)


def _layout(demo: Demo) -> tuple[str, ...]:
    """What is there to learn from, in words."""
    cameras = [f"camera {name!r}," for name in sorted(demo.images)] or ["no camera,"]
    return (*cameras, "no object position" if demo.object_position is None else "object position")


def _canonical(demo: Demo) -> dict[str, Shaped[Array, "T ..."]]:
    """The arrays that diffusion_policy knows, by its names and in its types."""
    arrays = {
        "action": demo.actions,
        "robot0_eef_pos": demo.eef_position,
        "robot0_eef_quat": xyzw_from_wxyz(demo.eef_quat_wxyz),
        "robot0_gripper_qpos": demo.gripper,
    }
    if demo.object_position is not None:
        arrays["object_position"] = demo.object_position
    return {key: array.astype(np.float32) for key, array in arrays.items()}
