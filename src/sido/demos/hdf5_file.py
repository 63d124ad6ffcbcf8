"""An HDF5 file that is open for reading, in whatever process and thread asks."""

from __future__ import annotations

import os
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from sido.arrays import Array
from sido.errors import DataError

__all__ = ["Hdf5File", "hdf5_errors"]

_CACHE_BYTES = 2 << 20  # HDF5's own initial size
_BROKEN = (OSError, RuntimeError, KeyError, ValueError, TypeError, AttributeError, MemoryError)
"""What h5py raises on damaged files, by where the damage is (sizes beyond all memory included)."""


@contextmanager
def hdf5_errors(file: Path, *, demo: str | None = None, field: str | None = None) -> Generator[None]:
    """Turn what h5py raises into an error that says which file, demonstration and field could not be read."""
    try:
        yield
    except PermissionError as error:
        raise DataError(
            "may not be read", file=file, found="permission denied", fix="ask its owner, or change its permissions"
        ) from error
    except _BROKEN as error:
        raise DataError(
            "cannot be read as HDF5",
            file=file,
            demo=demo,
            field=field,
            found=str(error.args[0] if error.args else error),
            fix="the file is damaged, or its download or its writing was cut short: fetch or record it again",
        ) from error


class Hdf5File:
    """Opens on first use, once a process: it may be pickled to worker processes, and lived in by forked ones.

    h5py takes a lock of its own around every call, so threads may share it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._handle: h5py.File | None = None
        self._process = -1

    @property
    def root(self) -> h5py.File:
        """The open file of this process."""
        with self._lock:
            if self._handle is None or self._process != os.getpid():
                # A handle inherited by fork is left alone: closing it here would close the parent's cache as well.
                with hdf5_errors(self.path):
                    self._handle = h5py.File(self.path, "r", locking="best-effort")
                    _bound_cache(self._handle)
                self._process = os.getpid()
            return self._handle

    def images(self, name: str, steps: Array) -> Array:
        """Rows of a dataset in the given order, which may repeat; each is read once."""
        # HDF5 selects rows in ascending order and without repeats only.
        rows, back = np.unique(steps, return_inverse=True)
        with hdf5_errors(self.path, field=name):
            dataset: h5py.Dataset = self.root[name]
            if rows.size and rows.size == rows[-1] - rows[0] + 1:  # one block: a slice is much faster than a list
                return dataset[int(rows[0]) : int(rows[-1]) + 1][back]
            return dataset[rows][back]

    def close(self) -> None:
        """Close this process's handle. Reading again opens another."""
        with self._lock:
            if self._handle is not None and self._process == os.getpid():
                self._handle.close()
            self._handle = None

    def __getstate__(self) -> Path:
        return self.path

    def __setstate__(self, path: Path) -> None:
        self.__init__(path)


def _bound_cache(file: h5py.File) -> None:
    """Keep HDF5's cache of what lies where, which grows to 32 MB with the number of demonstrations, small."""
    settings: Any = file.id.get_mdc_config()
    settings.max_size = _CACHE_BYTES
    file.id.set_mdc_config(settings)
