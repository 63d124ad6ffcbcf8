"""The formats that sido reads and writes, and how a path is recognised as one of them."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sido.atomic import require_replaceable
from sido.demos.dataset import DemoDataset
from sido.demos.files_below import files_below
from sido.demos.source import DatasetInfo, DemoSource, DemoWriter, Hints
from sido.errors import DataError, SettingError, SidoError

__all__ = [
    "FORMATS",
    "Format",
    "create_dataset",
    "format_of",
    "open_dataset",
    "require_replaceable_dataset",
    "writable_format",
]


@dataclass(frozen=True)
class Format:
    """One way of storing demonstrations. Its modules are imported when it is used, not before."""

    name: str
    recognises: Callable[[Path], bool]
    """Whether an existing path looks like this format, by a glance at names (contents are judged by the reader)."""
    opens: Callable[[Path, Hints], DemoSource]
    creates: Callable[[Path, DatasetInfo, bool], DemoWriter] | None = None
    """Starts a new dataset: path, what is true of it, whether to replace an existing one. None: read only."""
    suffixes: tuple[str, ...] = ()
    """Endings by which a new path asks for this format."""


def open_dataset(path: Path | str, *, hints: Hints | None = None, filter_key: str | None = None) -> DemoDataset:
    """Open the demonstrations at `path`, whatever format they are in, for reading."""
    path = Path(path)
    if not path.exists():
        raise DataError("no such file or folder", file=path, fix="check the path")
    kind = format_of(path)
    try:
        dataset = DemoDataset(kind.opens(path, hints or Hints()), path)
    except SidoError as error:
        raise error.at(file=path) from error.__cause__
    return dataset if filter_key is None else dataset.subset(filter_key)


def create_dataset(
    path: Path | str, info: DatasetInfo, *, format: str | None = None, overwrite: bool = False
) -> DemoWriter:
    """Start a new dataset at `path`, in the format that its ending (or `format`, one of `FORMATS`) asks for.

    ```python
    with create_dataset("out.zarr", dataset.info) as writer:
        for demo in dataset:
            writer.write(demo)
    ```
    """
    path = Path(path)
    path = path if path.name else path.absolute()  # "."
    creates = FORMATS[writable_format(path, format)].creates
    assert creates is not None
    if overwrite:
        require_replaceable_dataset(path)
    return creates(path, info, overwrite)


def writable_format(path: Path, format: str | None = None) -> str:
    """Which of `FORMATS` a new dataset at `path` gets: the one that is named, or that the path's ending asks for.

    Raises:
        SettingError: there is none.
    """
    writable = {name: kind for name, kind in FORMATS.items() if kind.creates}
    if format is None:
        by_suffix = [name for name, kind in writable.items() if path.name.endswith(kind.suffixes) and kind.suffixes]
        format = by_suffix[0] if by_suffix else "lerobot" if path.suffix == "" else None
    if format not in writable:
        raise SettingError(
            "no format to write this in" if format is None else "unknown format to write",
            file=path,
            found=repr(path.suffix if format is None else format),
            expected=f"one of {', '.join(writable)}, or a path ending in .hdf5, .zarr, .zarr.zip or (LeRobot) nothing",
        )
    return format


def require_replaceable_dataset(path: Path) -> None:
    """Raise if `path` is a folder that is no dataset: that much is not deleted for a new one."""
    require_replaceable(path, "meta/info.json", ".zgroup")


def format_of(path: Path) -> Format:
    """The format of an existing path."""
    for kind in FORMATS.values():
        if kind.recognises(path):
            return kind
    raise DataError(
        "not a dataset of demonstrations",
        file=path,
        found="a folder" if path.is_dir() else f"a file ending in {path.suffix!r}",
        expected="robomimic .hdf5, a LeRobot folder (meta/info.json), .zarr, .zarr.zip, or DROID trajectory.h5 folders",
    )


def _is_lerobot(path: Path) -> bool:
    return (path / "meta" / "info.json").is_file()


def _is_zarr(path: Path) -> bool:
    return path.name.endswith((".zarr", ".zarr.zip")) or (path / ".zgroup").is_file()


def _is_droid(path: Path) -> bool:
    return path.name == "trajectory.h5" or any(file.name == "trajectory.h5" for file in files_below(path))


def _is_hdf5(path: Path) -> bool:
    return path.is_file() and path.suffix in (".hdf5", ".h5")


def _opens(module: str, name: str) -> Callable[[Path, Hints], DemoSource]:
    """A reader whose module, with the libraries of its format, is imported when a dataset is opened."""

    def open_source(path: Path, hints: Hints) -> DemoSource:
        return getattr(importlib.import_module(module), name)(path, hints)

    return open_source


def _creates(module: str, name: str, **options: bool) -> Callable[[Path, DatasetInfo, bool], DemoWriter]:
    """The same for a writer."""

    def create_writer(path: Path, info: DatasetInfo, overwrite: bool) -> DemoWriter:
        return getattr(importlib.import_module(module), name)(path, info, overwrite=overwrite, **options)

    return create_writer


_ROBOMIMIC, _LEROBOT, _ZARR = "sido.demos.robomimic", "sido.demos.lerobot", "sido.demos.replay_buffer"

FORMATS: dict[str, Format] = {
    "lerobot": Format(
        "LeRobot v3.0 or v2.1", _is_lerobot, _opens(_LEROBOT, "LeRobotSource"), _creates(_LEROBOT, "LeRobotWriter")
    ),
    "lerobot-video": Format(
        "LeRobot v3.0 with videos",
        lambda _path: False,  # read as "lerobot"
        _opens(_LEROBOT, "LeRobotSource"),
        _creates(_LEROBOT, "LeRobotWriter", video=True),
    ),
    "zarr": Format(
        "diffusion_policy zarr",
        _is_zarr,
        _opens(_ZARR, "ReplayBufferSource"),
        _creates(_ZARR, "ReplayBufferWriter"),
        (".zarr", ".zarr.zip"),
    ),
    "droid": Format("DROID", _is_droid, _opens("sido.demos.droid", "DroidSource")),
    "robomimic": Format(
        "robomimic HDF5",
        _is_hdf5,
        _opens(_ROBOMIMIC, "RobomimicSource"),
        _creates(_ROBOMIMIC, "RobomimicWriter"),
        (".hdf5", ".h5"),
    ),
}
"""By the name that `--format` takes, in the order in which a path is tried."""
