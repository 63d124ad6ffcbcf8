"""Performances as frames."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import pytest

from sido.cli.main import main
from sido.errors import SettingError
from sido.sim.cameras import FAST, Cameras
from sido.sim.film import film, steps_per_frame
from sido.sim.performance import perform

VIEWS = ("spectator", "robot0_eye_in_hand")


def test_frames_come_at_their_rate_and_the_end_lingers(world, idle):
    world.horizon = 10
    with Cameras(world.scene, VIEWS, size=(24, 24), quality=FAST) as cameras:
        expected = []
        for moment in perform(world, idle, [1, 2]):
            if moment.steps in (0, 4, 8, 10):
                images = cameras.render(world.scenery(0))
                frame = np.concatenate([images[name] for name in VIEWS], axis=1)
                expected += [frame] * (4 if moment.ending else 1)  # 0.8 s
        frames = list(film(perform(world, idle, [1, 2]), world, cameras, rate_hz=5.0))
    assert frames[0].shape == (24, 48, 3)
    np.testing.assert_array_equal(frames, expected)
    assert not np.array_equal(frames[0], frames[2]), "something moves"


def test_the_caption_stands_in_the_corner_of_the_first_picture(world, idle):
    world.horizon = 1
    with Cameras(world.scene, VIEWS, size=(96, 96), quality=FAST) as cameras:
        told = []

        def caption(moment):
            told.append(moment)
            return "Nyu"

        plain = next(iter(film(perform(world, idle, [1]), world, cameras)))
        captioned = next(iter(film(perform(world, idle, [1]), world, cameras, caption=caption)))
    changed = (plain != captioned).any(axis=-1)
    rows, columns = np.nonzero(changed)
    assert told[0].steps == 0
    assert changed.sum() > 50
    assert rows.min() > 48, "below the middle"
    assert columns.max() < 60, "of the first picture, on the left"


@pytest.mark.parametrize(("rate_hz", "steps"), [(20.0, 1), (10.0, 2), (4.0, 5), (20 / 3, 3)])
def test_rates_that_can_be(world, rate_hz: float, steps: int):
    assert steps_per_frame(world, rate_hz) == steps


@pytest.mark.parametrize("rate_hz", [0.0, -10.0, 15.0, 40.0, float("nan")])
def test_rates_that_cannot_be(world, rate_hz: float):
    with pytest.raises(SettingError, match=r"rate_hz: a frame must be a whole number of control steps; found .*20 fra"):
        steps_per_frame(world, rate_hz)


def test_the_command_films_what_it_tells(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "stack.mp4"
    command = ["play", "stack", "--motion", "circle", "--speed", "0.04", "--seed", "3", "-o", str(path)]
    small = ["--size", "32", "--fps", "2", "--cameras", "agentview", "--no-caption"]
    assert main([*command, *small]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("seed 3: success after ")
    assert said[1].startswith(f"film: {path}, ")
    seconds = float(said[0].split()[-2])
    with av.open(str(path)) as container:
        frames = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
        assert container.streams.video[0].average_rate == 2
    assert frames[0].shape == (32, 32, 3)
    assert len(frames) == int(2 * seconds) + 1 + 2, "one every half second from the first, and the end lingers"
    assert float(said[1].split()[-2]) == len(frames) / 2
    assert main([*command, *small]) == 2, "a film is not written over"
    assert "exists" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (
            ["play", "stak"],
            "unknown task; found 'stak'; expected one of stack, square, mug, gantry, peachtree; to mend",
        ),
        (["play", "stack", "--motion", "circel"], "did you mean 'circle'?"),
        (["play", "stack", "--motion", "x", "--speed", "-0.1"], "speed_mps: not a usable number; found -0.1"),
        (
            ["play", "stack", "--motion", "x", "--speed", "3"],
            "too fast for the region; found 3 m/s; expected 0.625 m/s",
        ),
        (["play", "stack", "--speed", "0.04"], "a still object has no speed; found motion 'still' at 0.04 m/s"),
        (["play", "stack", "--obstacle", "revers"], "did you mean 'reverse'?"),
        (["play", "stack", "--cameras", "agent"], "Stack has no such camera; found 'agent'; expected "),
        (["play", "stack", "--fps", "15"], "a frame must be a whole number of control steps; found 15"),
        (["play", "stack", "-o", "stack.avi"], "not the name of a film; found 'stack.avi'"),
        (["play", "stack", "-o", "stack.gif", "--fps", "20", "--size", "0"], "not the size of an image"),
        (["play", "stack", "-n", "0"], "--episodes: nothing to play; found 0"),
        (["play", "stack", "--size", "31", "--cameras", "agentview"], "even height and width"),
    ],
)
@pytest.mark.usefixtures("as_user")
def test_what_cannot_be_filmed_is_told_in_one_line(
    arguments: list[str], complaint: str, tmp_path: Path, monkeypatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert said.count("\n") == 1
    assert complaint in said
    assert list(tmp_path.iterdir()) == [], "nothing is left behind"
