"""What a robomimic file holds of one demonstration, verbatim: names, frames and units are the file's own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import h5py
import numpy as np
from jaxtyping import Bool

from sido.arrays import Array
from sido.demos.frames import Frames
from sido.demos.hdf5_file import Hdf5File, hdf5_errors
from sido.errors import DataError

__all__ = ["ATTRIBUTE_SIGN", "DATASET_SIGN", "Recording", "camera_of", "is_image", "read_recording", "text_of"]

ATTRIBUTE_SIGN, DATASET_SIGN = "/@", "dataset:"
"""In the names of metadata: an attribute of a group within the demonstration ("datagen_info/@env_interface_name"), and
a small dataset that has no row per step ("dataset:src_demo_inds"), as JSON."""

_PER_STEP = ("actions", "actions_abs", "states", "rewards", "dones")
_PER_STEP_GROUPS = ("obs/", "datagen_info/", "states/", "action_dict/")
_LEFT_OUT = "next_obs/"  # obs, one step later
_OWN_ATTRIBUTES = ("num_samples", "sido_grasp", "sido_task")
_LARGEST_METADATA = 10_000  # numbers


@dataclass(frozen=True)
class Recording:
    """One demonstration as the file has it."""

    length: int
    arrays: Mapping[str, Array]
    """Everything with a row per step that is not an image, by its path: "actions", "obs/object"."""
    images: Mapping[str, Frames]
    """By camera."""
    metadata: Mapping[str, str]
    own: Mapping[str, str]
    """What sido wrote beside the demonstration."""
    skipped: tuple[str, ...] = field(default=())
    """What is left out, and why."""

    def array(self, path: str, width: int | None = None) -> Array:
        """An array that must be there, as float64 `[T, width]`."""
        if path not in self.arrays:
            raise DataError(
                "the demonstration lacks an array",
                field=path,
                expected=f"one of what it has: {', '.join(sorted(self.arrays))}",
                fix="extract the observations with robomimic's dataset_states_to_obs.py",
            )
        array = self.arrays[path]
        if array.ndim != 2 or (width is not None and array.shape[1] != width) or array.dtype.kind not in "fiu":
            raise DataError(
                "wrong shape",
                field=path,
                found=f"{array.dtype}{list(array.shape)}",
                expected=f"numbers [{self.length}, {width or 'any'}]",
            )
        bad = np.argwhere(~np.isfinite(array))
        if len(bad):  # before frames are changed, which would spread it over the row
            raise DataError(
                "not a finite number",
                field=path,
                found=f"{array[bad[0, 0]].tolist()} at step {bad[0, 0]}",
                expected="finite numbers",
                fix="delete the demonstration, or record it again",
            )
        return array.astype(np.float64)

    def flags(self, path: str) -> Bool[Array, " T"]:
        """A column of zeros and ones."""
        array = self.arrays[path]
        if array.dtype.kind not in "biuf" or array.size != len(array):
            raise DataError(
                "wrong shape",
                field=path,
                found=f"{array.dtype}{list(array.shape)}",
                expected=f"numbers [{self.length}]",
            )
        return array.reshape(-1) > 0.5


def read_recording(file: Hdf5File, demo: str) -> Recording:
    """Read demonstration `demo`, which has actions: all arrays, and images as `Frames` that read on demand."""
    place = f"data/{demo}"
    with hdf5_errors(file.path, demo=demo):
        group: h5py.Group = file.root[place]
        datasets: dict[str, h5py.Dataset] = {}
        metadata, own = _attributes(group)
        skipped: list[str] = []
        for path, item in _below(group, (file.root, group.parent, group)):
            if item is None:
                skipped.append(f"{path} is not read: a link to nothing")
            elif isinstance(item, h5py.Dataset):
                datasets[path] = item
            else:
                metadata.update({f"{path}{ATTRIBUTE_SIGN}{key}": text_of(value) for key, value in item.attrs.items()})
    length = datasets["actions"].shape[0]
    arrays: dict[str, Array] = {}
    images: dict[str, Frames] = {}
    for path, dataset in datasets.items():
        with hdf5_errors(file.path, demo=demo, field=path):
            if is_image(path, dataset):
                height, width = dataset.shape[1:3]
                images[camera_of(path)] = Frames(
                    (dataset.shape[0], height, width, 3), _FrameReader(file, f"{place}/{path}")
                )
            elif (reason := _unwanted(path, dataset, length)) is not None:
                skipped.append(f"{path} is not read: {reason}")
            elif _is_per_step(path, dataset, length):
                arrays[path] = dataset[()]
            else:
                metadata[f"{DATASET_SIGN}{path}"] = _json_of(dataset[()])
    return Recording(length, arrays, images, metadata, own, tuple(skipped))


def is_image(path: str, dataset: h5py.Dataset) -> bool:
    """Whether a dataset holds colour images `[T, height, width, 3]`."""
    return path.startswith("obs/") and dataset.ndim == 4 and dataset.shape[3] == 3 and dataset.dtype == np.uint8


def camera_of(path: str) -> str:
    """The camera's name: "obs/agentview_image" -> "agentview"."""
    return path.removeprefix("obs/").removesuffix("_image")


def text_of(value: Any) -> str:
    """An attribute as text: strings as they are, numbers as JSON."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape").decode(errors="replace")  # h5py lets through what is no UTF-8
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, np.ndarray | np.generic):
        return json.dumps(value.tolist(), default=text_of)
    return json.dumps(value, default=str)


@dataclass(frozen=True)
class _FrameReader:
    """Reads images of one camera; a class and not a closure, so that it can be sent to worker processes."""

    file: Hdf5File
    name: str

    def __call__(self, steps: Array) -> Array:
        return self.file.images(self.name, steps)


def _below(group: h5py.Group, above: tuple[h5py.Group, ...], place: str = "") -> Iterator[tuple[str, Any]]:
    """All that lies below a group, by its path; None for a link to nothing.

    Links are followed by name: `visititems` leaves soft ones out, and gives what has two names under one of them. What
    leads back to one of the groups `above` is left out.
    """
    for key in group:
        path = f"{place}{key}"
        if path.startswith(_LEFT_OUT):
            return
        try:
            item: Any = group[key]
        except (KeyError, OSError):  # an OSError where the link leads into another file
            if isinstance(group.get(key, getlink=True), h5py.HardLink):
                raise
            yield path, None
            continue
        if not isinstance(item, h5py.Group):
            yield path, item
        elif item not in above:
            yield path, item
            yield from _below(item, (*above, item), f"{path}/")


def _attributes(group: h5py.Group) -> tuple[dict[str, str], dict[str, str]]:
    texts = {key: text_of(value) for key, value in group.attrs.items()}
    own = {key: texts[key] for key in _OWN_ATTRIBUTES if key in texts}
    return {key: text for key, text in texts.items() if key not in _OWN_ATTRIBUTES}, own


def _is_per_step(path: str, dataset: h5py.Dataset, length: int) -> bool:
    if dataset.ndim == 0:
        return False
    # What must have a row per step is kept even if it has not: the demonstration's own check then names it.
    return path in _PER_STEP or path.startswith(_PER_STEP_GROUPS) or dataset.shape[0] == length


def _unwanted(path: str, dataset: h5py.Dataset, length: int) -> str | None:
    """Why a dataset cannot be carried along; None if it can."""
    checks: list[tuple[bool, Callable[[], str]]] = [
        (path.endswith("_depth"), lambda: "sido has no use for depth images"),
        (dataset.ndim >= 4, lambda: f"neither a colour image nor a small array ({dataset.dtype}{list(dataset.shape)})"),
        (dataset.dtype.kind not in "biufS", lambda: f"not numbers ({dataset.dtype})"),
        (
            not _is_per_step(path, dataset, length) and dataset.size > _LARGEST_METADATA,
            lambda: f"it has no row per step ({list(dataset.shape)}, {length} steps)",
        ),
    ]
    return next((reason() for unwanted, reason in checks if unwanted), None)


def _json_of(value: Any) -> str:
    array = np.asarray(value)
    values = array.astype(str).tolist() if array.dtype.kind == "S" else array.tolist()
    return json.dumps({"dtype": array.dtype.str, "values": values})
