"""Reading robomimic's HDF5, in the variants of robomimic, MimicGen and diffusion_policy."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from sido.demos.demo import Demo
from sido.demos.hdf5_file import Hdf5File, hdf5_errors
from sido.demos.robomimic.interpretation import interpret
from sido.demos.robomimic.recording import Recording, read_recording, text_of
from sido.demos.source import DatasetInfo, Hints
from sido.errors import DataError

__all__ = ["RobomimicSource"]


class RobomimicSource:
    """A robomimic HDF5 file, open for reading. It may be pickled to worker processes, and its images with it."""

    def __init__(self, path: Path, hints: Hints) -> None:
        self._file = Hdf5File(path)
        try:
            attributes, self._lengths, masks, notes = self._contents()
            self._names = tuple(self._lengths)
            first = self._names[0]
            try:
                self._meaning, info = interpret(attributes, self._recording(first), hints)
            except DataError as error:
                raise error.at(demo=None if (error.field or "").startswith("data") else first) from error.__cause__
        except DataError as error:
            self._file.close()
            raise error.at(file=path) from error.__cause__
        notes = (*info.warnings, *notes, *_strangers(masks, self._lengths))
        self._info = dataclasses.replace(info, filter_keys=masks, warnings=notes)

    @property
    def info(self) -> DatasetInfo:
        return self._info

    @property
    def names(self) -> tuple[str, ...]:
        return self._names

    def length(self, index: int) -> int:
        return self._lengths[self.names[index]]

    def read(self, index: int) -> Demo:
        name = self.names[index]
        try:
            return self._meaning.demo(name, self._recording(name))
        except DataError as error:
            raise error.at(file=self._file.path, demo=name) from error.__cause__

    def close(self) -> None:
        self._file.close()

    def _recording(self, name: str) -> Recording:
        return read_recording(self._file, name)

    def _contents(self) -> tuple[dict[str, str], dict[str, int], dict[str, tuple[str, ...]], tuple[str, ...]]:
        """What the file lists: attributes, demonstrations and their lengths, masks, and what is odd about them."""
        with hdf5_errors(self._file.path):
            root = self._file.root
            data: Any = root.get("data")
            if not isinstance(data, h5py.Group):
                raise DataError(
                    "not a robomimic file",
                    field="data",
                    found=f"{sorted(root)} at the top",
                    expected="a group 'data' of demo_0, demo_1, ...",
                )
            names = sorted((name for name in data if isinstance(data[name], h5py.Group)), key=_natural)
            if not names:
                raise DataError(
                    "there are no demonstrations", field="data", found="an empty group", expected="demo_0, ..."
                )
            lengths = {name: _length(data[name], name) for name in names}
            attributes = {key: text_of(value) for key, value in data.attrs.items()}
            return attributes, lengths, _masks(root), (*_miscounted(data, lengths), *_no_masks(root))


def _natural(name: str) -> tuple[str, int, str]:
    """Order demo_2 before demo_10."""
    number = re.search(r"\d+$", name)
    return (name, -1, name) if number is None else (name[: number.start()], int(number[0]), name)


def _length(group: h5py.Group, name: str) -> int:
    actions: Any = group.get("actions")
    if not isinstance(actions, h5py.Dataset) or actions.ndim != 2:
        raise DataError(
            "the demonstration has no actions",
            demo=name,
            field="actions",
            found=f"{sorted(group)}" if actions is None else f"{actions}",
            expected="an array [T, A]",
            fix="delete the demonstration, or record it again",
        )
    return actions.shape[0]


def _miscounted(data: h5py.Group, lengths: Mapping[str, int]) -> Iterator[str]:
    """Robomimic believes `num_samples`; sido counts. Say where they differ."""
    for name, length in lengths.items():
        told = data[name].attrs.get("num_samples")
        if told is not None and text_of(told).removesuffix(".0") != str(length):
            yield f"{name}: num_samples says {text_of(told)}, but there are {length} actions"


def _masks(root: h5py.File) -> dict[str, tuple[str, ...]]:
    """The named subsets of the file."""
    masks: Any = root.get("mask")
    if not isinstance(masks, h5py.Group):
        return {}
    return {
        key: tuple(text_of(name) for name in np.asarray(mask[()]).reshape(-1).tolist())
        for key, mask in masks.items()
        if isinstance(mask, h5py.Dataset)
    }


def _no_masks(root: h5py.File) -> Iterator[str]:
    masks: Any = root.get("mask")
    for key, mask in masks.items() if isinstance(masks, h5py.Group) else ():
        if not isinstance(mask, h5py.Dataset):
            yield f"mask {key!r} is left out: it is a group, not a list of demonstrations"


def _strangers(masks: Mapping[str, tuple[str, ...]], names: Mapping[str, int]) -> Iterator[str]:
    for key, members in masks.items():
        strangers = [name for name in members if name not in names]
        if strangers:
            yield f"mask {key!r} names demonstrations that the file does not have: {', '.join(strangers[:5])}"
