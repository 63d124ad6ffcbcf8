"""A whole experiment at the smallest scale: made once, gone on with, killed, and put on a page."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
import torch

from sido.experiments import Experiment, Table, agenda_of, reproduce, table_of
from sido.experiments.page import page
from sido.jobs import Here
from small_experiment import EXPERIMENT, SMALL

torch.set_num_threads(1)


SCRIPT = Path(__file__).parent.parent / "small_experiment.py"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Table]:
    folder = tmp_path_factory.mktemp("reproduce")
    before = agenda_of([EXPERIMENT], SMALL, folder)
    assert str(before) == "1 datasets, 1 predictors, 1 sets of chunks, 6 policies, 32 rollouts"
    # In a process of its own, as a person would: what other tests have told torch in this one must not count.
    subprocess.run([sys.executable, str(SCRIPT), str(folder)], check=True, stdout=subprocess.DEVNULL)
    return folder, made_in(folder, EXPERIMENT)


def made_in(folder: Path, experiment: Experiment) -> Table:
    return reproduce(experiment, SMALL, folder, Here())


def test_nothing_is_left(made: tuple[Path, Table]):
    folder, _table = made
    left = agenda_of([EXPERIMENT], SMALL, folder)
    assert left.empty
    assert str(left) == "nothing"


def test_what_is_lost_is_made_again_to_the_same_numbers(made: tuple[Path, Table], tmp_path: Path):
    """In another folder: what a taught predictor is, and not where it lies, decides the rollouts."""
    folder, table = made
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    runs = sorted((copy / "runs").iterdir())
    cell = next((runs[0] / "rollouts").iterdir())
    shutil.rmtree(cell)
    assert agenda_of([EXPERIMENT], SMALL, copy).rollouts == 2
    again = made_in(copy, EXPERIMENT)
    assert again.to_dict() == table.to_dict()
    assert table_of(EXPERIMENT, SMALL, folder).to_dict() == table.to_dict()


def test_killing_it_twice_changes_no_number(made: tuple[Path, Table], tmp_path: Path):
    """Once while it trains, once while it plays; and a third time while it has hardly begun."""
    _folder, table = made
    for stage in ("collecting", "training", "playing"):
        with subprocess.Popen(
            [sys.executable, str(SCRIPT), str(tmp_path)], stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            assert any(line.startswith(stage) for line in process.stdout)
            process.send_signal(signal.SIGKILL)
    assert not agenda_of([EXPERIMENT], SMALL, tmp_path).empty
    subprocess.run([sys.executable, str(SCRIPT), str(tmp_path)], check=True, stdout=subprocess.DEVNULL)
    again = made_in(tmp_path, EXPERIMENT)
    assert json.dumps(again.to_dict()) == json.dumps(table.to_dict())


def test_the_table_has_every_cell(made: tuple[Path, Table]):
    _folder, table = made
    cells = table.to_dict()["cells"]
    assert len(cells) == 8
    assert all(cell["rollouts"] == [2, 2] for cell in cells)
    assert [cell["paper"] for cell in cells].count(None) == 7
    assert sum(cell["paired"] is None for cell in cells) == 2  # the reference's own
    for cell in cells:
        assert sum(cell["failures"].values()) + sum(cell["successes"]) == 4
    assert table.markdown().count("\n") == 6
    assert "[0.95]" in table.markdown()


class Structure(HTMLParser):
    """Every element is closed, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_whole_and_needs_nothing_else(made: tuple[Path, Table]):
    folder, table = made
    text = page(table, folder)
    structure = Structure()
    structure.feed(text)
    assert structure.open == []
    assert structure.seen.count("svg") >= 2 + 1
    assert not re.search(r'(src|href)="(?!data:)', text)
    assert "http" not in text
    for method in EXPERIMENT.methods:
        assert method.name in text
    assert "paper 0.95" in text
