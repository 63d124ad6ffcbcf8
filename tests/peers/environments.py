"""The peers that own the formats, each in an environment of its own (`make peers` builds them)."""

from __future__ import annotations

from pathlib import Path

import pytest

_FOLDER = Path(__file__).resolve().parents[2] / ".venv-peers"


def peer_python(name: str) -> Path:
    """The interpreter of a peer's environment; the test is skipped, with the reason, where it could not be made."""
    failed = _FOLDER / f"{name}.failed"
    if failed.exists():
        pytest.skip(f"{name} could not be installed here: {failed.read_text().strip()[-300:]}")
    python = _FOLDER / name / "bin" / "python"
    if not python.exists():
        pytest.fail(f"the environment of {name} is missing: run `make peers`")
    return python
