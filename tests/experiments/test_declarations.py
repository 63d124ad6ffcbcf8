"""What is declared can be made: presets exist, tasks have demonstrations, and the paper's numbers are the paper's."""

from __future__ import annotations

from pathlib import Path

import pytest

from sido.errors import SettingError
from sido.experiments import EXPERIMENTS, SCALES, Experiment, Method, Taught, World, experiment_named
from sido.experiments.pieces import pieces_of
from sido.motion import motion_named
from sido.sim.tasks import TASKS
from sido.train import METHODS


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_is_made_of_what_there_is(name: str):
    experiment = EXPERIMENTS[name]
    for method in experiment.methods:
        assert method.preset in METHODS
        told = METHODS[method.preset].pose_channel
        assert (method.predictor == "none") == (told == "none")
        if isinstance(method.predictor, Taught):
            for speed in method.predictor.speeds_mps:
                motion_named(method.predictor.motion, speed)
    for world in experiment.worlds:
        assert world.task in TASKS
        assert world.task in SCALES["cpu"].demos
        motion_named(world.motion, world.speed_mps if world.motion != "still" else None)
    assert len({world.name for world in experiment.worlds}) == len(experiment.worlds)


def test_runs_are_shared():
    """The demonstration has six methods of two policies; another table of Stack from state needs no others."""
    scale = SCALES["cpu"]
    demo, stack = (pieces_of(EXPERIMENTS[name], scale) for name in ("demo", "stack"))
    assert len(demo) == 2 * scale.training_seeds
    assert {piece.path(Path("f")) for piece in demo} == {piece.path(Path("f")) for piece in stack}
    images = {piece.path(Path("f")) for piece in pieces_of(EXPERIMENTS["images"], scale)}
    assert images.isdisjoint(piece.path(Path("f")) for piece in demo)


def test_the_papers_numbers_stand_where_the_paper_has_them():
    table = EXPERIMENTS["table-1"].paper
    assert len(table) == 3 * (5 + 4 + 5) * 2
    assert table["DP + SIDO", World("stack", "x", 0.02).name] == 0.90
    assert table["DP (cur. pose)", World("stack", "x", 0.02).name] == 0.15
    assert table["DP + AC", World("square", "circle", 0.02).name] == 0.35
    assert table["EquiDP + SIDO", World("mug").name] == 0.50
    assert ("DP + AC", World("mug").name) not in table
    assert EXPERIMENTS["gantry"].paper["DP + SIDO", World("gantry", "y", 0.015).name] == 0.65
    assert EXPERIMENTS["peachtree"].paper["DP", World("peachtree").name] == 0.65
    assert EXPERIMENTS["speed-sweep"].paper["DP + SIDO", World("stack", "x", 0.06).name] == 0.05
    assert EXPERIMENTS["speed-sweep"].paper["DP + SIDO (DynaSIDO)", World("stack", "x", 0.06).name] == 0.25
    varying = EXPERIMENTS["varying-velocity"].paper
    assert varying["DP + SIDO, FERNN", World("gantry", "variable-speed", 0.03).name] == 0.40
    (errors,) = EXPERIMENTS["predictors"].exhibits
    assert errors.paper_m["DP + SIDO, FERNN"] == 0.0177
    (slopes,) = EXPERIMENTS["tracking"].exhibits
    assert (slopes.paper["DP + SIDO"], slopes.paper[""]) == (0.42, 0.62)


def test_a_wrong_declaration_is_refused():
    method = Method("DP", "dp", "none")
    with pytest.raises(SettingError, match="no such cell"):
        Experiment("e", "E", "", (method,), (World("stack"),), paper={("DP", "stack, x 2 cm/s"): 1.0})
    with pytest.raises(SettingError, match="names of their own"):
        Experiment("e", "E", "", (method, method), (World("stack"),))
    with pytest.raises(SettingError, match=r"unknown experiment.*did you mean 'table-1'"):
        experiment_named("table1")
