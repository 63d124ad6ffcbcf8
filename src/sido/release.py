"""Which sido this is, and what it stands on."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

__all__ = ["commit", "versions"]

_PACKAGE = Path(__file__).parent


def versions(others: Sequence[str] = ()) -> dict[str, str]:
    """Of sido, with its commit where it is a checkout, and of other packages, by name; "" where one is missing."""
    return {"sido": _version("sido"), "commit": commit(), **{name: _version(name) for name in others}}


def commit() -> str:
    """The last commit that changed sido's package, "+" behind it if it was changed since; "" where git does not know.

    Installed elsewhere, the package is no part of the repository that may surround it: then it is "" as well.
    """
    told = _git("log", "-1", "--format=%H", "--", ".")
    return f"{told}+" if told and _git("status", "--porcelain", "--untracked-files=no", "--", ".") else told


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _git(*arguments: str) -> str:
    try:
        done = subprocess.run(["git", *arguments], cwd=_PACKAGE, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()
