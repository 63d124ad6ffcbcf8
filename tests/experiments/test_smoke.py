"""All tables and figures of the paper can be made: `sido reproduce all --scale smoke`, as a person gives it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sido.cli.main import main
from sido.experiments import EXPERIMENTS, SCALES, agenda_of


def test_every_table_and_figure_is_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Four minutes of one processor; nothing of it is left to be made again, and each has its page."""
    assert main(["reproduce", "all", "--scale", "smoke", "-o", str(tmp_path)]) == 0
    out, err = capsys.readouterr()
    assert "left in all" in err
    assert max(len(line) for line in out.splitlines() if not line.startswith("report:")) <= 80
    assert agenda_of(list(EXPERIMENTS.values()), SCALES["smoke"], tmp_path).empty
    for name, experiment in EXPERIMENTS.items():
        document = json.loads((tmp_path / "tables" / f"{name}.json").read_text())
        assert len(document["cells"]) == len(experiment.methods) * len(experiment.worlds)
        assert len(document["exhibits"]) == len(experiment.exhibits)
        page = (tmp_path / f"{name}.html").read_text()
        assert "<video" in page
        for title in document["exhibits"]:
            assert title in page
