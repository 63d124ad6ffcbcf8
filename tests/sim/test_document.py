"""docs/simulation.md: its Python runs, and its tables name what there is."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from sido.sim.environment import environment_id
from sido.sim.pose_estimator import PoseEstimator
from sido.sim.tasks import TASKS, Stack

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "simulation.md").read_text()


def test_snippets_run(capsys, stack: Stack, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(TASKS, "stack", lambda: stack)
    names: dict[str, object] = {}
    found = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)
    assert len(found) == 3
    for snippet in found:
        exec(compile(snippet, "docs/simulation.md", "exec"), names)
    assert set(re.findall(r"`(\w+)`", TEXT.split("| observation |")[1].split("**Actions**")[0])) == set(
        names["step"].observation  # pyright: ignore
    )


def test_every_task_is_described():
    assert re.findall(r"^\| `(\w+)` \| `(sido/\w+-v0)` \|", TEXT, flags=re.MULTILINE) == [
        (task, environment_id(task)) for task in TASKS
    ]


def test_every_setting_of_the_pose_estimator_is_described():
    table = TEXT.split("| `PoseEstimator(...)`")[1].split("\n\n")[0]
    assert re.findall(r"`(\w+)`", "\n".join(row.split("|")[1] for row in table.splitlines()[2:])) == [
        field.name for field in dataclasses.fields(PoseEstimator)
    ]


def test_the_cameras_are_there(stack: Stack):
    named = re.findall(r"`(\w+)`", TEXT.split("Every scene has ")[1].split(".")[0])
    model = stack.scene.model
    assert len(named) == 6
    assert set(named) <= {model.camera(k).name for k in range(model.ncam)}
