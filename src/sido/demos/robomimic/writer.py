"""Writing robomimic's HDF5, such that robomimic's own readers take it and sido reads back what it wrote."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import h5py
import numpy as np
from jaxtyping import Float

from sido.arrays import Array
from sido.atomic import atomic_path
from sido.demos.absolute import in_frame
from sido.demos.demo import Demo
from sido.demos.forgiving_file import ForgivingFile
from sido.demos.frames import Frames
from sido.demos.robomimic.end_effector import BODY_QUAT, SITE_QUAT, body_quat_xyzw, site_quat
from sido.demos.robomimic.env_args import env_args_of, parse_env_args
from sido.demos.robomimic.interpretation import EEF_POSITION, GRIPPER, OBJECT_KEY_ATTRIBUTE, SIGNALS
from sido.demos.robomimic.recording import ATTRIBUTE_SIGN, DATASET_SIGN
from sido.demos.source import DatasetInfo, grasp_to_json, own_base
from sido.errors import DataError, SidoError
from sido.geometry import Pose, quat_angle, quat_multiply, xyzw_from_wxyz

__all__ = ["RobomimicWriter"]

_OBJECT = "obs/object_position"
_SAME = 1e-6  # metres, radians: what is recorded in float32 still says the same
_BLOCK = 64  # images in memory at a time


class RobomimicWriter:
    """A robomimic HDF5 file being written. It appears under its name when the block ends well.

    What a demonstration carries of a robomimic file (`recorded`) is written verbatim, as long as the demonstration
    itself still says the same; the rest is made from the demonstration. Positions are in the world, as robomimic has
    them, where `info.world_from_base` says what that is.
    """

    def __init__(self, path: Path, info: DatasetInfo, *, overwrite: bool = False) -> None:
        self._path, self._overwrite = path, overwrite
        text, self._frame = env_args_of(info)
        self._env_args = text
        self._robot = parse_env_args(text).robot
        if info.environment is not None:
            info = dataclasses.replace(info, environment=dataclasses.replace(info.environment, json=text))
        self._info = info
        self._names: dict[str, str] = {}
        self._total = 0
        self._stack = ExitStack()

    def __enter__(self) -> RobomimicWriter:
        with ExitStack() as stack, self._errors():
            partial = stack.enter_context(atomic_path(self._path, overwrite=self._overwrite))
            self._disk = stack.enter_context(ForgivingFile(partial))
            self._file = stack.enter_context(h5py.File(self._disk, "w"))
            data = self._file.create_group("data")
            data.attrs["env_args"] = self._env_args
            data.attrs["sido"] = self._info.to_json()
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._stack.__exit__(kind, error, trace)
            return
        with self._errors(), self._stack:
            if not self._names:
                raise DataError("no demonstration was written", file=self._path, fix="write at least one")
            self._file["data"].attrs["total"] = self._total
            for key, names in self._info.filter_keys.items():
                members = [self._names[name].encode() for name in names if name in self._names]
                if members:
                    self._file.create_dataset(f"mask/{key}", data=np.array(members))
            self._file.close()
            self._require_disk()

    def write(self, demo: Demo) -> None:
        """Add a demonstration. One that is not called demo_N is called that, N being how many there are."""
        self._info.action_spec.require_same(demo.action_spec, here="the dataset", there=demo.name)
        valid = demo.name.startswith("demo_") and demo.name[5:].isdecimal()
        name = demo.name if valid else f"demo_{len(self._names)}"
        if demo.name in self._names or name in self._names.values():
            raise DataError("two demonstrations have one name", file=self._path, demo=name, fix="rename one of them")
        with self._errors(demo.name):
            group = self._file.create_group(f"data/{name}")
            for path, array in self._arrays(demo).items():
                group.create_dataset(path, data=array)
            for camera, frames in demo.images.items():
                _write_images(group, f"obs/{camera}_image", frames)
            _write_metadata(group, demo.metadata)
            group.attrs["num_samples"] = len(demo)
            if demo.grasp is not None:
                group.attrs["sido_grasp"] = grasp_to_json(demo.grasp)
            if demo.task:
                group.attrs["sido_task"] = demo.task
            if demo.object_position is not None:
                self._file["data"].attrs[OBJECT_KEY_ATTRIBUTE] = _OBJECT
        self._require_disk()
        self._names[demo.name] = name
        self._total += len(demo)

    def _require_disk(self) -> None:
        if self._disk.error is not None:
            raise self._disk.error

    def _arrays(self, demo: Demo) -> dict[str, Array]:
        """Everything with a row per step, by path, in the file's frame."""
        world_from_base = own_base(demo.metadata) or self._info.world_from_base or Pose.identity()
        spec = demo.action_spec
        turned = self._frame == "world" and spec.frame == "base"
        arrays: dict[str, Array] = {
            "rewards": _last_only(len(demo)),
            "dones": _last_only(len(demo)).astype(np.int64),
            **demo.recorded,
            "actions": in_frame(demo.actions, spec, world_from_base) if turned else demo.actions,
        }
        _put(arrays, EEF_POSITION, world_from_base.apply(demo.eef_position))
        _put(arrays, GRIPPER, demo.gripper)
        for name, signal in demo.subtask_signals.items():
            _put(arrays, f"{SIGNALS}{name}", signal.astype(np.int64))
        site = quat_multiply(world_from_base.quat_wxyz, demo.eef_quat_wxyz)
        if not self._says(arrays, site):
            arrays[SITE_QUAT] = xyzw_from_wxyz(site)
        arrays.setdefault(BODY_QUAT, body_quat_xyzw(site))
        if demo.object_position is not None:
            arrays[_OBJECT] = world_from_base.apply(demo.object_position)
        return arrays

    def _says(self, arrays: Mapping[str, Array], site_wxyz: Float[Array, "T 4"]) -> bool:
        """Whether what is recorded already gives the site's orientation to a reader."""
        try:
            recorded, guess = site_quat(arrays, self._robot)
        except DataError:  # not recorded, or not as robomimic does it
            return False
        return guess is None and bool((quat_angle(recorded, site_wxyz) < _SAME).all())

    @contextmanager
    def _errors(self, demo: str | None = None) -> Generator[None]:
        try:
            yield
        except SidoError as error:
            raise error.at(file=self._path, demo=demo) from error.__cause__
        except (OSError, RuntimeError, ValueError, TypeError) as error:  # what h5py raises
            raise DataError(
                "cannot be written as HDF5", file=self._path, demo=demo, found=error, fix="check the disk and the names"
            ) from error


def _put(arrays: dict[str, Array], path: str, array: Array) -> None:
    """Set an array, unless what is recorded there says the same."""
    recorded = arrays.get(path)
    if recorded is None or recorded.shape != array.shape or not np.allclose(recorded, array, rtol=0.0, atol=_SAME):
        arrays[path] = array


def _last_only(length: int) -> Float[Array, " T"]:
    """1 at the last step: the demonstration ends there, and well."""
    ends = np.zeros(length)
    ends[-1] = 1.0
    return ends


def _write_images(group: h5py.Group, path: str, frames: Frames) -> None:
    dataset = group.create_dataset(path, frames.shape, np.uint8, chunks=(1, *frames.shape[1:]))
    for start in range(0, len(frames), _BLOCK):
        dataset[start : start + _BLOCK] = frames[start : start + _BLOCK]


def _write_metadata(group: h5py.Group, metadata: Mapping[str, str]) -> None:
    for key, text in metadata.items():
        if key.startswith(DATASET_SIGN):
            document: Any = json.loads(text)
            values = np.array(document["values"], dtype=np.dtype(document["dtype"]))
            group.create_dataset(key.removeprefix(DATASET_SIGN), data=values)
        elif ATTRIBUTE_SIGN in key:
            place, _sign, name = key.rpartition(ATTRIBUTE_SIGN)
            group.require_group(place).attrs[name] = text
        else:
            group.attrs[key] = text
