from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sido.atomic import atomic_path, recover, require_replaceable, scratch_folder
from sido.errors import DataError, SettingError


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


KILLED = """
import os, sys
from pathlib import Path
from sido.atomic import atomic_path
with atomic_path(Path(sys.argv[1]), overwrite=True) as partial:
    partial.mkdir()
    (partial / "half").touch()
    if sys.argv[2] == "put aside":
        Path(sys.argv[1]).rename(partial.with_name(partial.name.replace("partial", "replaced", 1)))
    os.kill(os.getpid(), 9)
"""


def killed(final: Path, when: str) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(final), when], env=os.environ)
    assert done.returncode == -9


@pytest.mark.parametrize("name", ["data", "d[a]*ta", "data with ünïcode"])
def test_what_a_killed_process_left_is_tidied_up_by_the_next(tmp_path: Path, name: str):
    final, bystander = tmp_path / name, tmp_path / f".partial-{name}"
    bystander.touch()
    final.mkdir()
    (final / "old").touch()
    killed(final, "while it built")
    killed(final, "put aside")
    assert not final.exists()
    assert len(list(tmp_path.iterdir())) == 3  # the second has tidied up after the first
    with pytest.raises(SettingError, match="already exists"), atomic_path(final):
        pass  # not reached: the old one came back
    assert (final / "old").exists()
    assert sorted(tmp_path.iterdir()) == sorted([final, bystander])


def test_what_a_running_process_builds_is_left_alone(tmp_path: Path):
    final = tmp_path / "data"
    with atomic_path(final) as mine:
        mine.touch()
        with atomic_path(final) as yours:
            yours.touch()
            assert mine.exists()
        with pytest.raises(SettingError, match="already exists"):
            atomic_path(final).__enter__()
        mine.touch()
        final.unlink()
    elsewhere = tmp_path / ".partial-00000000-1-abcd-data"  # another machine's process number 1
    elsewhere.touch()
    with atomic_path(final, overwrite=True) as partial:
        partial.touch()
    assert sorted(tmp_path.iterdir()) == [elsewhere, final]
    recover(final)
    assert list(tmp_path.iterdir()) == [final]


def test_who_was_quicker_is_not_replaced(tmp_path: Path):
    final = tmp_path / "data"
    with pytest.raises(SettingError, match="already exists"), atomic_path(final) as partial:
        partial.write_text("mine")
        final.write_text("theirs")
    assert final.read_text() == "theirs"
    assert list(tmp_path.iterdir()) == [final]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS])
def test_a_disk_that_refuses_is_told_in_one_line(tmp_path: Path, number: int):
    for refused in (atomic_path(tmp_path / "data"), scratch_folder(tmp_path / "data")):
        with pytest.raises(DataError, match=r"data: cannot be written; found .*; to mend it: (free|choose)"), refused:
            raise OSError(number, os.strerror(number))
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match="data: cannot be written"), atomic_path(tmp_path / "file" / "data"):
        pass
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


def test_errors_name_what_a_person_can_find(tmp_path: Path):
    final = tmp_path / "data"
    with pytest.raises(DataError) as caught, atomic_path(final) as partial:
        raise DataError("bad", file=partial / "video.mp4")
    assert caught.value.file == str(final / "video.mp4")


def test_a_folder_that_is_still_written_to_is_removed_when_that_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    tries: list[Path] = []
    remove = shutil.rmtree

    def hindered(folder: Path, *, ignore_errors: bool) -> None:
        """As if a thread of zarr's had put a file into it meanwhile."""
        tries.append(folder)
        if len(tries) > 2:
            remove(folder, ignore_errors=ignore_errors)

    monkeypatch.setattr("sido.atomic.shutil.rmtree", hindered)
    with pytest.raises(KeyboardInterrupt), scratch_folder(tmp_path / "data") as folder:
        (folder / "deep").mkdir()
        raise KeyboardInterrupt
    assert tries == [folder] * 3
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_other_things_is_never_replaced(tmp_path: Path):
    """A mistyped name must not cost a folder of other things."""
    require_replaceable(tmp_path / "new", "mine.json")
    (tmp_path / "empty").mkdir()
    require_replaceable(tmp_path / "empty", "mine.json")
    (tmp_path / "file").write_text("old")
    require_replaceable(tmp_path / "file", "mine.json")
    (tmp_path / "notes.txt").touch()
    with pytest.raises(SettingError, match=r"holds other things, and is not replaced; .* a folder with mine\.json"):
        require_replaceable(tmp_path, "mine.json")
    with pytest.raises(SettingError, match="holds other things"):
        require_replaceable(tmp_path)
    (tmp_path / "mine.json").touch()
    require_replaceable(tmp_path, "mine.json")
