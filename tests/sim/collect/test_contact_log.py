"""The grasp, from drawn logs: c closes, h holds, the object's height in centimetres."""

from __future__ import annotations

import numpy as np
import pytest

from sido.demos import ActionSpec, Demo, find_grasp
from sido.sim.collect.contact_log import grasp_step


def logged(closing: str, held: str, height: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    position = np.zeros((len(height), 3))
    position[:, 2] = [int(cm) / 100 for cm in height]
    return np.array([mark == "c" for mark in closing]), np.array([mark == "h" for mark in held]), position


@pytest.mark.parametrize(
    ("closing", "held", "height", "step"),
    [
        ("....cccccc..", "......hhhh..", "000000012333", 4),
        ("............", "............", "000000000000", None),
        ("....cccccc..", "............", "000000012333", None),  # pushed up, not held
        (".cc.cccccc..", "..h...hhhh..", "000000012333", 4),  # touched, and then grasped
        (".ccccc.ccccc", "..hhhh..hhhh", "000133000123", 1),  # lifted, and lost
        (".ccccc.ccccc", "..hh.....hhh", "000011000147", 7),  # slipped away
        ("cccccccccccc", "hhhhhhhhhhhh", "000002222222", 0),
        (".....ccccccc", "......hhhhhh", "000000000111", None),  # no more than a centimetre
        ("......cccccc", "...........h", "000000000009", None),  # who knows
    ],
)
def test_of_drawn_logs(closing: str, held: str, height: str, step: int | None):
    assert grasp_step(*logged(closing, held, height)) == step


@pytest.mark.parametrize("seed", range(40))
def test_it_is_what_a_reader_finds_by_the_signal(seed: int):
    rng = np.random.default_rng(seed)
    closing = np.repeat(rng.random(20) < 0.5, 6)
    held = np.repeat(rng.random(40) < 0.5, 3)
    position = np.cumsum(rng.normal(0.0, 0.003, (120, 3)), axis=0)
    step = grasp_step(closing, held, position)
    if step is None:
        return
    actions = np.zeros((120, 7))
    actions[:, -1] = np.where(closing, 1.0, -1.0)
    demo = Demo(
        name="demo_0",
        actions=actions,
        action_spec=ActionSpec("absolute"),
        eef_position=np.zeros((120, 3)),
        eef_quat_wxyz=np.tile([1.0, 0.0, 0.0, 0.0], (120, 1)),
        gripper=np.zeros((120, 2)),
        object_position=position,
        # A signal says what is seen before an action, the log what its step did.
        subtask_signals={"grasp": np.concatenate([[False], held[:-1]])},
    )
    assert find_grasp(demo).index == step
