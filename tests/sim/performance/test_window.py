"""What a window shows; and where there is none."""

from __future__ import annotations

import time

import mujoco
import numpy as np
import pytest

from sido.cli.main import main
from sido.sim.performance import perform
from sido.sim.window import show


class Shown:
    """A window that is closed after so many pictures, and keeps what they showed."""

    def __init__(self, data: mujoco.MjData, pictures: int) -> None:
        self.data, self.pictures, self.seen = data, pictures, []

    def is_running(self) -> bool:
        return len(self.seen) < self.pictures

    def sync(self) -> None:
        self.seen.append(self.data.qpos.copy())


def test_it_follows_until_it_is_closed_at_the_speed_of_life(world, idle):
    data = mujoco.MjData(world.scene.model)
    window, states = Shown(data, 5), []
    began = time.monotonic()
    for moment in show(perform(world, idle, [4]), world, data, window):
        states.append(world.state.qpos[0].copy())
        assert moment.steps == len(states) - 1
    assert time.monotonic() - began >= 5 * world.period_s - 1e-3, "no faster than life"
    np.testing.assert_array_equal(window.seen, states)
    assert len(states) == 5
    data.qpos[:] = 0.0  # whatever is done in the window
    assert np.abs(world.state.qpos).max() > 0.1


@pytest.mark.parametrize("display", [None, ":17893"])
def test_without_a_screen_it_says_what_to_do_instead(
    monkeypatch, capsys: pytest.CaptureFixture[str], display: str | None
):
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    if display is not None:
        monkeypatch.setenv("DISPLAY", display)
    assert main(["view", "stack"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: there is no screen to open a window on; found ")
    assert said.endswith("; to mend it: record a film instead, with `sido play TASK`\n")
    assert said.count("\n") == 1


def test_an_unknown_task_is_told_before_a_screen_is_missed(capsys: pytest.CaptureFixture[str]):
    assert main(["view", "peachtre"]) == 2
    assert "did you mean 'peachtree'?" in capsys.readouterr().err
