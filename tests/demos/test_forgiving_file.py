"""HDF5's file goes on when the disk does not: what was written is read back, refused or not."""

from __future__ import annotations

import errno
import io
import itertools
from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sido.demos.forgiving_file import ForgivingFile

_folders = itertools.count()


class FullDisk(io.FileIO):
    """Takes so many bytes, and then no more; the last write may be taken in part."""

    room = 0

    def write(self, data) -> int:
        taken = super().write(data[: max(self.room, 0)]) if self.room > 0 else 0
        self.room -= len(data)
        if not taken:
            raise OSError(errno.ENOSPC, "No space left on device")
        return taken


def file_on_disk(path: Path, room: int) -> ForgivingFile:
    file = ForgivingFile(path)
    file._file.close()
    file._file = FullDisk(path, "r+")
    file._file.room = room
    return file


writes = st.lists(st.tuples(st.integers(0, 60), st.binary(min_size=1, max_size=30)), max_size=12)


@given(writes=writes, room=st.integers(0, 200))
def test_what_was_written_is_read_back(tmp_path_factory: pytest.TempPathFactory, writes: list, room: int):
    path = tmp_path_factory.getbasetemp() / f"{next(_folders)}.bin"
    model = bytearray()
    with file_on_disk(path, room) as file:
        for start, content in writes:
            file.seek(start)
            assert file.write(content) == len(content)
            model.extend(bytes(max(0, start + len(content) - len(model))))
            model[start : start + len(content)] = content
        assert file.seek(0, io.SEEK_END) == len(model)
        file.seek(0)
        assert file.read() == bytes(model)
        if file.error is None:
            assert path.read_bytes() == bytes(model)
        if sum(len(content) for _, content in writes) <= room:
            assert file.error is None
    path.unlink()


@pytest.mark.parametrize("room", [0, 100, 3000, 40_000, 10**9])
def test_hdf5_closes_in_peace(tmp_path: Path, room: int):
    images = np.random.default_rng(0).integers(0, 255, (40, 16, 16, 3)).astype(np.uint8)
    with file_on_disk(tmp_path / "a.hdf5", room) as disk:
        with h5py.File(disk, "w") as file:
            for name in map(str, range(5)):
                dataset = file.create_dataset(f"data/{name}", images.shape, np.uint8, chunks=(1, 16, 16, 3))
                dataset[:] = images
            np.testing.assert_array_equal(file["data/3"][7], images[7])
        assert (disk.error is None) == (room == 10**9)
    if room == 10**9:
        with h5py.File(tmp_path / "a.hdf5") as file:
            np.testing.assert_array_equal(file["data/4"][()], images)


def test_an_existing_file_is_not_touched(tmp_path: Path):
    (tmp_path / "a").write_text("old")
    with pytest.raises(FileExistsError):
        ForgivingFile(tmp_path / "a")
    assert (tmp_path / "a").read_text() == "old"
