"""Every image of a dataset, decoded once to disk and memory-mapped, so that a batch is a copy and not a decode."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int64, UInt8

from sido.arrays import Array
from sido.atomic import atomic_path
from sido.demos.dataset import DemoDataset, Progress, unheard
from sido.demos.files_below import files_below
from sido.errors import DataError, SettingError

__all__ = ["FrameStore", "cache_folder"]

_BLOCK = 64  # images that are decoded at a time: bounds the memory of a build


def cache_folder() -> Path:
    """Where sido keeps what it can make again: `$SIDO_CACHE`, else `$XDG_CACHE_HOME/sido`, else `~/.cache/sido`."""
    if chosen := os.environ.get("SIDO_CACHE"):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sido"


class FrameStore:
    """The images of a dataset on disk: one flat file a camera, all demonstrations one after another.

    Reading maps the files: the process holds no images of its own, the system's page cache keeps what fits, and
    memory does not grow with the number of demonstrations. `FrameStore.of(dataset)` builds the store where there is
    none yet, and otherwise opens it.
    """

    def __init__(self, folder: Path) -> None:
        try:
            index: Any = json.loads((folder / "index.json").read_text())
            self._first: dict[str, int] = index["first"]
            shapes = {camera: (int(n), int(h), int(w), 3) for camera, (n, h, w) in index["shapes"].items()}
            self._maps = {
                camera: np.memmap(folder / _file_name(number), dtype=np.uint8, mode="r", shape=shape)
                for number, (camera, shape) in enumerate(shapes.items())
            }
        except (OSError, ValueError, KeyError) as error:
            raise DataError("the image cache is damaged", file=folder, found=error, fix="delete the folder") from error
        self.folder = folder

    @classmethod
    def of(
        cls,
        dataset: DemoDataset,
        *,
        folder: Path | None = None,
        progress: Progress = unheard,
    ) -> FrameStore:
        """The store of a dataset's images in `folder` (by default in `cache_folder()`, by what the dataset holds)."""
        if not dataset.info.cameras:
            raise SettingError("the dataset has no images", file=dataset.path, fix="train from state observations")
        folder = folder or cache_folder() / "frames" / _fingerprint(dataset)
        if not folder.exists():
            try:
                _build(dataset, folder, progress)
            except SettingError:
                if not folder.exists():  # another process built it meanwhile, if it does
                    raise
        return cls(folder)

    @property
    def cameras(self) -> tuple[str, ...]:
        return tuple(self._maps)

    def shape(self, camera: str) -> tuple[int, int, int]:
        """Height, width and channels of a camera's images."""
        _, height, width, channels = self._maps[camera].shape
        return height, width, channels

    def first_row(self, demo: str) -> int:
        """The row of a demonstration's first image."""
        if demo not in self._first:
            raise DataError(
                "the image cache lacks a demonstration", file=self.folder, demo=demo, fix="delete the folder"
            )
        return self._first[demo]

    def read(self, camera: str, rows: Int64[Array, "*batch"]) -> UInt8[Array, "*batch height width 3"]:
        """The images at the given rows, in their order."""
        return np.asarray(self._maps[camera][rows])


def _file_name(camera_number: int) -> str:
    return f"camera_{camera_number}.u8"  # not by the camera's name: a dataset may call one "../x"


def _fingerprint(dataset: DemoDataset) -> str:
    """A name that changes whenever the files, the demonstrations or the cameras do."""
    path = dataset.path.resolve()
    files = sorted(file for file in files_below(path) if file.is_file()) if path.is_dir() else [path]
    stats = [(str(file), file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    identity = json.dumps([stats, dataset.names, dataset.info.cameras])
    return hashlib.sha256(identity.encode()).hexdigest()[:24]


def _build(dataset: DemoDataset, folder: Path, progress: Progress) -> None:
    lengths, cameras = [int(length) for length in dataset.lengths], dataset.info.cameras
    first = dict(zip(dataset.names, np.cumsum([0, *lengths[:-1]]).tolist(), strict=True))
    sizes: dict[str, tuple[int, int]] = {}
    with atomic_path(folder) as partial:
        partial.mkdir()
        for demo in dataset.each(progress):
            for number, camera in enumerate(cameras):
                frames = demo.images[camera]
                size = sizes.setdefault(camera, frames.shape[1:3])
                if frames.shape[1:3] != size:
                    raise DataError(
                        "images of one camera differ in size", file=dataset.path, demo=demo.name, field=camera,
                        found=frames.shape[1:3], expected=size,
                    )  # fmt: skip
                with (partial / _file_name(number)).open("ab") as file:
                    for start in range(0, len(frames), _BLOCK):
                        file.write(frames[start : start + _BLOCK].tobytes())
        shapes = {camera: (sum(lengths), *sizes[camera]) for camera in cameras}
        (partial / "index.json").write_text(json.dumps({"first": first, "shapes": shapes}))
