"""Files and folders that appear under their final name whole, or not at all."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from sido.errors import SettingError

__all__ = ["atomic_path", "recover"]


@contextmanager
def atomic_path(final: Path, *, overwrite: bool = False) -> Generator[Path]:
    """Yield a fresh path beside `final` to build a file or a folder at; rename it to `final` when the block ends well.

    When the block raises (Ctrl-C included), what was built is removed and `final` is as it was before.
    An existing `final` is refused unless `overwrite`; it is then replaced only at the very end.
    """
    if final.exists() and not overwrite:
        raise SettingError("already exists", file=final, fix="choose another name, or pass overwrite (--force)")
    final.parent.mkdir(parents=True, exist_ok=True)
    # The suffix is kept last: some libraries choose a format by it.
    partial = final.with_name(f".partial-{uuid.uuid4().hex[:8]}-{final.name}")
    try:
        yield partial
        _publish(partial, final)
    finally:
        _remove(partial)


def recover(final: Path) -> None:
    """Tidy up after processes that were killed while they built `final`, or replaced it.

    Call it where no other process is building it. A folder that was put aside and not replaced yet comes back.
    """
    for aside in final.parent.glob(f".replaced-*-{final.name}"):
        if final.exists():
            _remove(aside)
        else:
            aside.rename(final)
    for partial in final.parent.glob(f".partial-*-{final.name}"):
        _remove(partial)


def _publish(partial: Path, final: Path) -> None:
    if not (final.exists() and partial.exists() and (final.is_dir() or partial.is_dir())):
        partial.replace(final)
        return
    # A folder replaces, and is replaced, in two steps: the old one is put aside, and back if the second step fails.
    aside = final.with_name(f".replaced-{uuid.uuid4().hex[:8]}-{final.name}")
    final.rename(aside)
    try:
        partial.rename(final)
    except BaseException:
        aside.rename(final)
        raise
    _remove(aside)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
