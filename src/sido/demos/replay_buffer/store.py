"""A zarr folder or zip that is open, and what goes wrong with one."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Shaped

from sido.arrays import Array
from sido.errors import DataError, MissingExtraError, SidoError

try:
    import zarr
    from numcodecs import Blosc
    from numcodecs.errors import UnknownCodecError
    from zarr.storage import LocalStore, ZipStore
except ImportError as error:
    raise MissingExtraError("reading and writing diffusion_policy's zarr", "zarr", "data") from error

__all__ = ["DISK_COMPRESSOR", "is_zip", "new_group", "open_arrays", "open_store", "pack", "read_rows", "told"]

DISK_COMPRESSOR: Any = Blosc(cname="zstd", clevel=5, shuffle=Blosc.BITSHUFFLE)
"""Lossless, and what diffusion_policy itself calls "disk"."""


def is_zip(path: Path) -> bool:
    return path.suffix == ".zip"


def open_store(path: Path) -> LocalStore | ZipStore:
    """Open an existing folder or zip for reading."""
    if not path.exists():
        raise DataError("no such file or folder", file=path, fix="check the path")
    if not is_zip(path):
        return LocalStore(path, read_only=True)
    try:
        with zipfile.ZipFile(path) as archive:  # reads its table of contents
            archive.infolist()
    except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError, EOFError) as error:
        raise DataError(
            "not a zip file, or cut short",
            file=path,
            found=f"{path.stat().st_size} bytes ({error})",
            fix="copy or download it again",
        ) from error
    return ZipStore(path, mode="r")


def new_group(folder: Path) -> Any:
    """An empty root group of version 2, the one that diffusion_policy's zarr reads."""
    return zarr.open_group(str(folder), mode="w", zarr_format=2)


def open_arrays(store: LocalStore | ZipStore, group: str) -> dict[str, Any]:
    """The arrays of `data` or `meta`, by name, none of them read. Groups inside are no part of the format."""
    has_image_codecs = _register_image_codecs()
    try:
        return _arrays(store, group)
    except UnknownCodecError as error:
        if has_image_codecs:
            raise
        raise MissingExtraError(f"reading {group} ({error})", "imagecodecs", "data") from error


@cache
def _register_image_codecs() -> bool:
    """Let zarr decode JPEG 2000 and JPEG XL, in which diffusion_policy and UMI keep images. Whether it now can."""
    try:
        from imagecodecs.numcodecs import register_codecs
    except ImportError:  # most datasets do without; `open_arrays` complains for those that don't
        return False
    register_codecs(verbose=False)
    return True


def _arrays(store: LocalStore | ZipStore, group: str) -> dict[str, Any]:
    root: Any = zarr.open_group(store, mode="r")
    if group not in root or not isinstance(root[group], zarr.Group):
        raise DataError(
            f"there is no group {group!r}",
            found=sorted(root.keys()),
            expected="data and meta/episode_ends, as diffusion_policy's ReplayBuffer writes them",
        )
    return dict(sorted(root[group].arrays()))


def read_rows(array: Any, start: int, stop: int, *, file: Path, field: str) -> Shaped[Array, "N ..."]:
    """Rows `[start, stop)` of an array."""
    with told(file, field):
        return np.asarray(array[start:stop])


@contextmanager
def told(file: Path, field: str | None = None) -> Generator[None]:
    """Tell whatever zarr and its codecs raise as a DataError: they have no common parent, and no promise."""
    try:
        yield
    except SidoError as error:
        raise error.at(file=file, field=field) from error.__cause__
    except Exception as error:
        raise DataError(
            "cannot be read as zarr",
            file=file,
            field=field,
            found=f"{type(error).__name__}: {error}",
            fix="check that it is a whole diffusion_policy zarr; copy or convert it again",
        ) from error


def pack(folder: Path, archive: Path) -> None:
    """Put a zarr folder into a new zip, uncompressed: its chunks are compressed already."""
    with zipfile.ZipFile(archive, mode="x", compression=zipfile.ZIP_STORED) as target:
        for parent, folders, files in os.walk(folder):
            folders.sort()
            for name in sorted(files):
                file = Path(parent, name)
                target.write(file, file.relative_to(folder).as_posix())
