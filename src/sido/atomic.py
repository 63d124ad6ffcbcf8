"""Files and folders that appear under their final name whole, or not at all."""

from __future__ import annotations

import errno
import glob
import os
import platform
import re
import shutil
import time
import uuid
import zlib
from collections.abc import Generator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from sido.errors import DataError, SettingError, SidoError

__all__ = ["atomic_path", "disk_refusals", "recover", "require_replaceable", "scratch_folder"]

_REFUSALS = {
    errno.EACCES, errno.EDQUOT, errno.EEXIST, errno.EFBIG, errno.EIO, errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG,
    errno.ENOSPC, errno.ENOTDIR, errno.ENOTEMPTY, errno.EPERM, errno.EROFS,
}  # fmt: skip
"""What a disk says when it does not take what is written."""

_REMOVAL_TRIES, _REMOVAL_PAUSE_S = 40, 0.05


@contextmanager
def atomic_path(final: Path, *, overwrite: bool = False) -> Generator[Path]:
    """Yield a fresh path beside `final` to build a file or a folder at; rename it to `final` when the block ends well.

    When the block raises (Ctrl-C included), what was built is removed and `final` is as it was before. What a process
    left that was killed outright is removed by the next one that builds the same `final`.
    An existing `final` is refused unless `overwrite`; it is then replaced only at the very end.

    Raises:
        DataError: the disk is full, may not be written to, and the like.
    """
    with disk_refusals(final):
        _sweep(final)
        _require_free(final, overwrite)
        final.parent.mkdir(parents=True, exist_ok=True)
        partial = _beside(final, "partial")
        try:
            yield partial
            _require_free(final, overwrite)  # somebody else may have been quicker
            _publish(partial, final)
        except SidoError as error:
            if error.file is not None:  # of a file within, whose name nobody will find
                error.file = error.file.replace(str(partial), str(final))
            raise
        finally:
            _remove(partial)


@contextmanager
def scratch_folder(final: Path) -> Generator[Path]:
    """Yield an empty folder beside `final`, for parts of what becomes it; it is removed in the end."""
    with disk_refusals(final):
        folder = _beside(final, "partial")
        folder.mkdir(parents=True)
        try:
            yield folder
        finally:
            _remove(folder)


def recover(final: Path) -> None:
    """Tidy up after processes that were killed while they built `final`, or replaced it, wherever they ran.

    Call it where no other process is building it. A folder that was put aside and not replaced yet comes back.
    """
    for leftover in _leftovers(final):
        _tidy(leftover, final)


def require_replaceable(final: Path, *known_by: str) -> None:
    """Raise if `final` is a folder of something else: only an empty one, or one that holds a file `known_by`, may go.

    For whoever lets a user overwrite: a mistyped name must not cost a folder of other things.
    """
    if not final.is_dir() or not any(final.iterdir()) or any((final / name).is_file() for name in known_by):
        return
    raise SettingError(
        "the folder holds other things, and is not replaced",
        file=final,
        expected=f"a folder with {' or '.join(known_by)}" if known_by else "a file",
        fix="choose another name",
    )


def _require_free(final: Path, overwrite: bool) -> None:
    if final.exists() and not overwrite:
        raise SettingError("already exists", file=final, fix="choose another name, or replace it (--force)")


def _beside(final: Path, state: str) -> Path:
    """A name that no one has, and that tells who made it. `final`'s suffix is kept: libraries choose a format by it."""
    return final.with_name(f".{state}-{_machine()}-{os.getpid()}-{uuid.uuid4().hex[:4]}-{final.name}")


def _leftovers(final: Path) -> list[Path]:
    return [path for state in ("replaced", "partial") for path in _named(final, state)]


def _named(final: Path, state: str) -> list[Path]:
    return sorted(final.parent.glob(f".{state}-*-{glob.escape(final.name)}"))


def _sweep(final: Path) -> None:
    """Tidy up after processes of this machine that are no more."""
    for leftover in _leftovers(final):
        maker = re.match(r"\.[a-z]+-([0-9a-f]{8})-(\d+)-[0-9a-f]{4}-(.*)$", leftover.name, flags=re.DOTALL)
        if maker and maker[3] == final.name and maker[1] == _machine() and not _is_running(int(maker[2])):
            _tidy(leftover, final)


def _tidy(leftover: Path, final: Path) -> None:
    with suppress(FileNotFoundError):  # somebody else has just tidied up
        if leftover.name.startswith(".replaced-") and not final.exists():
            leftover.rename(final)
        else:
            _remove(leftover)


@cache
def _machine() -> str:
    """Where process numbers mean what they mean here: this host, and this container of it."""
    with suppress(OSError):
        return f"{zlib.crc32((platform.node() + str(Path('/proc/self/ns/pid').readlink())).encode()):08x}"
    return f"{zlib.crc32(platform.node().encode()):08x}"


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # it runs, and is somebody else's
        return True
    return True


def _publish(partial: Path, final: Path) -> None:
    if not (final.exists() and partial.exists() and (final.is_dir() or partial.is_dir())):
        partial.replace(final)
        return
    # A folder replaces, and is replaced, in two steps: the old one is put aside, and back if the second step fails.
    aside = _beside(final, "replaced")
    final.rename(aside)
    try:
        partial.rename(final)
    except BaseException:
        aside.rename(final)
        raise
    _remove(aside)


def _remove(path: Path) -> None:
    """Remove a file or a folder. Threads of a library may still be writing into it, so it is tried for a while."""
    for _ in range(_REMOVAL_TRIES):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
        if not path.exists():
            return
        time.sleep(_REMOVAL_PAUSE_S)


@contextmanager
def disk_refusals(final: Path) -> Generator[None]:
    """Tell a disk that does not take what is written as a DataError."""
    try:
        yield
    except OSError as error:
        if error.errno not in _REFUSALS:
            raise
        raise DataError(
            "cannot be written",
            file=final,
            found=str(error),
            fix="free some space"
            if error.errno in (errno.ENOSPC, errno.EDQUOT)
            else "choose a place that may be written to",
        ) from error
