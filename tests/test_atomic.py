from __future__ import annotations

from pathlib import Path

import pytest

from sido.atomic import atomic_path
from sido.errors import SettingError


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, RuntimeError])
@pytest.mark.parametrize("folder", [False, True])
def test_an_interrupted_write_leaves_things_as_they_were(tmp_path: Path, interruption: type, folder: bool):
    final = tmp_path / "deep" / "data.hdf5"
    for before in (False, True):
        if before:
            final.mkdir() if folder else final.write_text("old")
        listing = sorted(tmp_path.rglob("*"))
        with pytest.raises(interruption), atomic_path(final, overwrite=True) as partial:
            assert partial.parent == final.parent
            assert partial.suffix == ".hdf5"
            partial.mkdir() if folder else partial.write_text("half")
            raise interruption
        assert [path for path in sorted(tmp_path.rglob("*")) if path != final.parent] == [
            path for path in listing if path != final.parent
        ]
    assert folder or final.read_text() == "old"


@pytest.mark.parametrize("old_is_folder", [False, True])
@pytest.mark.parametrize("folder", [False, True])
def test_the_new_replaces_the_old_only_when_told(tmp_path: Path, folder: bool, old_is_folder: bool):
    final = tmp_path / "data"
    if old_is_folder:
        final.mkdir()
        (final / "old").touch()
    else:
        final.write_text("old")
    with pytest.raises(SettingError, match="already exists"), atomic_path(final):
        pass
    with atomic_path(final, overwrite=True) as partial:
        partial.mkdir() if folder else partial.write_text("new")
    assert final.is_dir() if folder else final.read_text() == "new"
    assert list(tmp_path.iterdir()) == [final]
    assert not (final / "old").exists()


def test_a_block_that_writes_nothing_leaves_the_old(tmp_path: Path):
    final = tmp_path / "data"
    final.mkdir()
    with pytest.raises(FileNotFoundError), atomic_path(final, overwrite=True):
        pass
    assert final.is_dir()
