"""A dataset of demonstrations, whatever format it is stored in."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import overload

import numpy as np

from sido.arrays import Array
from sido.demos.demo import Demo
from sido.demos.grasp import find_grasp
from sido.demos.source import DatasetInfo, DemoSource
from sido.errors import DataError, SettingError, SidoError

__all__ = ["OBJECT_FROM_GRASP", "DemoDataset", "Progress", "unheard"]

Progress = Callable[[int, int], None]
"""What long work calls with (done, total): the command line draws a bar from it."""


def unheard(done: int, total: int) -> None:
    """The progress report that nobody listens to."""


OBJECT_FROM_GRASP = "end-effector position at the grasp (the dataset has no object pose)"


class DemoDataset:
    """Demonstrations by number, by name or in order. Opens lazily: arrays are read when a demonstration is taken.

    What every format leaves to be worked out is done here: the grasp index, and, where a dataset has no object pose
    at all, the object's position, taken to be where the hand closed on it.

    ```python
    with open_dataset("stack.hdf5") as dataset:
        print(len(dataset), dataset["demo_3"].grasp)
    ```
    """

    def __init__(
        self,
        source: DemoSource,
        path: Path,
        *,
        indices: Sequence[int] | None = None,
        changes: tuple[Callable[[Demo], Demo], ...] = (),
    ) -> None:
        self._source = source
        self._indices = range(len(source.names)) if indices is None else tuple(indices)
        self._changes = changes
        self._info: DatasetInfo | None = None
        self.path = path
        if len(self._indices) == 0:
            raise DataError(
                "there are no demonstrations", file=path, expected="at least one", fix="check the filter key"
            )

    @property
    def info(self) -> DatasetInfo:
        """What is true of the dataset as a whole."""
        if self._info is None:
            info = self._source.info
            if info.object_position_source is None:
                info = dataclasses.replace(info, object_position_source=OBJECT_FROM_GRASP)
            if self._changes:
                info = dataclasses.replace(info, action_spec=self[0].action_spec)  # of a demonstration, as changed
            self._info = info
        return self._info

    @property
    def names(self) -> tuple[str, ...]:
        names = self._source.names
        return tuple(names[index] for index in self._indices)

    @property
    def lengths(self) -> Array:
        """Control steps of each demonstration, without reading their arrays."""
        return np.array([self._source.length(index) for index in self._indices])

    def __len__(self) -> int:
        return len(self._indices)

    def __iter__(self) -> Iterator[Demo]:
        return self.each()

    def each(self, progress: Progress = unheard) -> Iterator[Demo]:
        """Every demonstration in order, reporting after each one has been dealt with."""
        for done, index in enumerate(self._indices, start=1):
            yield self._read(index)
            progress(done, len(self))

    @overload
    def __getitem__(self, which: int | str) -> Demo: ...
    @overload
    def __getitem__(self, which: slice) -> DemoDataset: ...
    def __getitem__(self, which: int | str | slice) -> Demo | DemoDataset:
        if isinstance(which, slice):
            return self._with(indices=self._indices[which])
        if isinstance(which, str):
            return self._read(self._indices[self._position(which)])
        if not -len(self) <= which < len(self):
            raise IndexError(f"demonstration {which} of {len(self)} in {self.path}")
        return self._read(self._indices[which])

    def subset(self, filter_key: str) -> DemoDataset:
        """The demonstrations that the file itself groups under a name: "train", "valid"."""
        keys = self.info.filter_keys
        if filter_key not in keys:
            raise SettingError(
                "unknown filter key",
                file=self.path,
                found=repr(filter_key),
                expected=f"one of {sorted(keys)}" if keys else "none: the file has no filter keys",
            )
        return self._with(indices=[self._indices[self._position(name)] for name in keys[filter_key]])

    def take(self, positions: Sequence[int]) -> DemoDataset:
        """The demonstrations at these positions, counted from 0, in this order."""
        return self._with(indices=[self._indices[position] for position in positions])

    def map(self, change: Callable[[Demo], Demo]) -> DemoDataset:
        """The same dataset with every demonstration changed as it is read: `dataset.map(to_absolute)`."""
        return DemoDataset(self._source, self.path, indices=self._indices, changes=(*self._changes, change))

    def close(self) -> None:
        self._source.close()

    def __enter__(self) -> DemoDataset:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"DemoDataset({str(self.path)!r}, {len(self)} demonstrations, {self.info.format})"

    def _with(self, indices: Sequence[int]) -> DemoDataset:
        return DemoDataset(self._source, self.path, indices=indices, changes=self._changes)

    def _position(self, name: str) -> int:
        try:
            return self.names.index(name)
        except ValueError:
            raise SettingError(
                "no such demonstration",
                file=self.path,
                found=repr(name),
                expected=f"{self.names[0]} ... {self.names[-1]}",
            ) from None

    def _read(self, index: int) -> Demo:
        try:
            # A number that is not finite is reported by Demo, by name: numpy need not warn of it on the way there.
            with np.errstate(invalid="ignore"):
                demo = self._source.read(index)
            self._require_cameras(demo)
            demo = _with_object(_with_grasp(demo))
            for change in self._changes:
                demo = change(demo)
            return demo
        except SidoError as error:
            raise error.at(file=self.path, demo=self._source.names[index]) from error.__cause__

    def _require_cameras(self, demo: Demo) -> None:
        missing = [camera for camera in self._source.info.cameras if camera not in demo.images]
        if missing:
            raise DataError(
                "a camera is missing that other demonstrations have",
                field=f"images of {missing[0]}",
                found=f"cameras {', '.join(demo.images) or 'none'}",
                expected=", ".join(self._source.info.cameras),
                fix="leave the demonstration out, or read without that camera",
            )


def _with_grasp(demo: Demo) -> Demo:
    """The demonstration with its grasp found. One without a grasp stays without: it has no eligible chunks."""
    if demo.grasp is not None:
        return demo
    try:
        return dataclasses.replace(demo, grasp=find_grasp(demo))
    except DataError:
        return demo  # `summary.py` asks again, and says why


def _with_object(demo: Demo) -> Demo:
    """The demonstration with the object where the hand closed on it, and in the hand from then on."""
    if demo.object_position is not None or demo.grasp is None:
        return demo
    before = np.arange(len(demo))[:, None] <= demo.grasp.index
    return dataclasses.replace(
        demo, object_position=np.where(before, demo.eef_position[demo.grasp.index], demo.eef_position)
    )
