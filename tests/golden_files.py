"""Golden files: what a test computed when somebody last looked, with the recipe that made it.

`make golden` rewrites them; the diff is reviewed like any other change.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "golden"


class Golden:
    def __init__(self, rewrite: bool) -> None:
        self._rewrite = rewrite

    def check(self, name: str, recipe: str, value: Any) -> None:
        """Compare a JSON value with the golden file `name`, or write it there."""
        path = FOLDER / f"{name}.json"
        document = json.loads(json.dumps({"recipe": recipe, "value": value}))
        if self._rewrite:
            path.parent.mkdir(exist_ok=True)
            path.write_text(json.dumps(document, indent=2) + "\n")
        assert path.exists(), f"no golden file {path.name}: run `make golden` and review it"
        assert document == json.loads(path.read_text())
