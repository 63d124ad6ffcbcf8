"""A whole experiment at the smallest scale: made once, gone on with, and put on a page."""

from __future__ import annotations

import dataclasses
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest
import torch

from sido.experiments import EXPERIMENTS, SCALES, Experiment, Table, World, left_of, reproduce, table_of
from sido.experiments.page import page
from sido.jobs import Here
from sources import short_episodes

torch.set_num_threads(1)

SMALL = dataclasses.replace(SCALES["smoke"], demos={"stack": 3}, training_steps=2, training_seeds=2)
DEMO = EXPERIMENTS["demo"]
EXPERIMENT = dataclasses.replace(
    DEMO,
    methods=(DEMO.methods[0], DEMO.methods[1], DEMO.methods[4]),
    worlds=(World("stack"), World("stack", "x", 0.06)),
    paper={(DEMO.methods[4].name, World("stack").name): 0.95},
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Table]:
    folder = tmp_path_factory.mktemp("reproduce")
    before = left_of(EXPERIMENT, SMALL, folder)
    assert (before.demonstrations, before.runs, before.rollouts) == (1, 4, 2 * 2 * 2 * 3)
    table = made_in(folder, EXPERIMENT)
    return folder, table


def made_in(folder: Path, experiment: Experiment) -> Table:
    with short_episodes():
        return reproduce(experiment, SMALL, folder, Here())


def test_nothing_is_left(made: tuple[Path, Table]):
    folder, _table = made
    assert str(left_of(EXPERIMENT, SMALL, folder)) == "0 datasets, 0 policies, 0 rollouts"


def test_what_is_lost_is_made_again_to_the_same_numbers(made: tuple[Path, Table], tmp_path: Path):
    folder, table = made
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    runs = sorted((copy / "runs").iterdir())
    cell = next((runs[0] / "rollouts").iterdir())
    shutil.rmtree(cell)
    assert left_of(EXPERIMENT, SMALL, copy).rollouts == 2
    again = made_in(copy, EXPERIMENT)
    assert again.to_dict() == table.to_dict()
    assert table_of(EXPERIMENT, SMALL, folder).to_dict() == table.to_dict()


def test_the_table_has_every_cell(made: tuple[Path, Table]):
    _folder, table = made
    cells = table.to_dict()["cells"]
    assert len(cells) == 6
    assert all(cell["rollouts"] == [2, 2] for cell in cells)
    assert [cell["paper"] for cell in cells].count(None) == 5
    assert sum(cell["paired"] is None for cell in cells) == 2  # the reference's own
    for cell in cells:
        assert sum(cell["failures"].values()) + sum(cell["successes"]) == 4
    assert table.markdown().count("\n") == 5
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
    text = page(table, folder, videos=False)
    structure = Structure()
    structure.feed(text)
    assert structure.open == []
    assert structure.seen.count("svg") >= 2 + 1
    assert not re.search(r'(src|href)="(?!data:)', text)
    assert "http" not in text
    for method in EXPERIMENT.methods:
        assert method.name in text
    assert "paper 0.95" in text
