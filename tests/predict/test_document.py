"""docs/predictors.md: its Python runs, and its table names what there is."""

from __future__ import annotations

import re
from pathlib import Path

from sido.predict import PREDICTORS, predictor_named

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "predictors.md").read_text()


def test_snippets_run():
    names: dict[str, object] = {}
    found = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)
    assert found
    for snippet in found:
        exec(compile(snippet, "docs/predictors.md", "exec"), names)


def test_every_predictor_is_described_with_how_many_poses_it_looks_at():
    rows = re.findall(r"^\| `(\w[\w-]*)` \|.*\| (\d+) \|[^|]*\|$", TEXT, flags=re.MULTILINE)
    assert rows == [(name, str(predictor_named(name, 0.02).observations)) for name in PREDICTORS]
