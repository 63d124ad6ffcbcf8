"""docs/motions.md: its Python runs, and its tables name what there is."""

from __future__ import annotations

import re
from pathlib import Path

from sido.motion import MOTIONS, TABLE_COLUMNS

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "motions.md").read_text()


def test_snippets_run():
    names: dict[str, object] = {}
    found = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)
    assert found
    for snippet in found:
        exec(compile(snippet, "docs/motions.md", "exec"), names)


def test_every_motion_is_described():
    assert re.findall(r"^\| `(\w[\w-]*)` \|", TEXT, flags=re.MULTILINE) == list(MOTIONS)


def test_the_columns_are_listed():
    assert ", ".join(f"`{column}`" for column in TABLE_COLUMNS) in " ".join(TEXT.split())
