"""Files and folders that appear under their final name whole, or not at all."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sido.errors import SettingError

__all__ = ["atomic_path"]


@contextmanager
def atomic_path(final: Path, *, overwrite: bool = False) -> Iterator[Path]:
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
        replaced: Path | None = None
        if final.is_dir():  # a folder cannot be renamed over a folder that is not empty
            replaced = final.with_name(f".replaced-{uuid.uuid4().hex[:8]}-{final.name}")
            os.rename(final, replaced)
        os.replace(partial, final)
        if replaced is not None:
            shutil.rmtree(replaced)
    finally:
        _remove(partial)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
