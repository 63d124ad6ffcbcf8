"""What a run measured, one line of JSON for each time: `metrics.jsonl`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import final

from sido.errors import DataError

__all__ = ["Metrics", "read_metrics"]


@final
class Metrics:
    """A file that grows by lines. It holds nothing of the clock, so that equal runs have equal files."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def write(self, step: int, values: Mapping[str, float]) -> None:
        """What was measured after `step` updates."""
        with self._file.open("a") as stream:
            stream.write(json.dumps({"step": step, **values}) + "\n")

    def cut(self, step: int) -> None:
        """Forget what was measured after more than `step` updates: the run goes on from there, and measures it again.

        A last line that was being written when the run was killed goes, too.
        """
        if not self._file.exists():
            return
        lines = self._file.read_text().splitlines(keepends=True)
        kept = [line for line in lines if line.endswith("\n") and _step(line, self._file) <= step]
        if kept != lines:
            partial = self._file.with_name(f".{self._file.name}")
            partial.write_text("".join(kept))
            partial.replace(self._file)


def read_metrics(file: Path) -> list[dict[str, float]]:
    """Every line."""
    if not file.exists():
        return []
    return [json.loads(line) for line in file.read_text().splitlines()]


def _step(line: str, file: Path) -> int:
    try:
        return int(json.loads(line)["step"])
    except (ValueError, KeyError, TypeError) as error:
        raise DataError("a line is damaged", file=file, found=line[:80].strip(), fix="delete that line") from error
