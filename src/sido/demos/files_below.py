"""The files of a folder at any depth, those that links lead to as well: large datasets are often put together so."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

__all__ = ["files_below"]


def files_below(folder: Path) -> Iterator[Path]:
    """Each file, by its path under `folder`.

    A folder to which several paths lead is gone through once: where it really stands, if that is under `folder`.
    """
    root, seen = folder.resolve(), set[Path]()
    for place, folders, files in os.walk(folder, followlinks=True):
        here = Path(place)
        real = here.resolve()
        stands_elsewhere = real.is_relative_to(root) and real != root / here.relative_to(folder)
        if real in seen or stands_elsewhere:
            folders.clear()
            continue
        seen.add(real)
        folders.sort()
        yield from (here / name for name in sorted(files))
