"""Demonstrations made by arithmetic: a hand reaches for a cube, closes, lifts. No simulator.

They exist for tests, benchmarks and the first minutes with sido. They have what real files have (signals, finger
positions, images, an arm that realises only a part of each relative command), and none of the physics.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float, UInt8

from sido.arrays import Array
from sido.demos.action_spec import ACTION_SPECS, ActionSpec
from sido.demos.demo import Demo
from sido.demos.frames import Frames
from sido.errors import SettingError

__all__ = ["REALISED_SHARE", "reach_and_lift"]

REALISED_SHARE = 0.25
"""How much of a relative command the pretend arm realises in its step; real OSC arms are like that (findings 5)."""

_TABLE_CENTRE_M = np.array([0.56, 0.0, -0.09])  # of the robosuite table, seen from the Panda's base
_HOVER_M = 0.15
_FINGERS_OPEN_M, _FINGERS_ON_CUBE_M, _FINGER_STEP_M = 0.04, 0.02, 0.004
_DOWNWARDS = np.array([0.0, 1.0, 0.0, 0.0])  # wxyz: the tool's z axis points at the table


def reach_and_lift(
    rng: np.random.Generator,
    *,
    name: str = "demo_0",
    steps: int = 80,
    grasp_step: int = 40,
    spec: ActionSpec = ACTION_SPECS["osc-delta"],
    image_size: int | None = None,
    with_object: bool = True,
    with_signals: bool = True,
) -> Demo:
    """One demonstration: reach the cube by `grasp_step`, close on it over five steps, lift it until the end.

    `spec` is a relative OSC spec or an absolute axis-angle one. With `image_size` there are two cameras.
    """
    if not 10 <= grasp_step <= steps - 10:
        raise SettingError(
            "the grasp must leave 10 steps on both sides", found=grasp_step, expected=f"10..{steps - 10}"
        )
    cube = _TABLE_CENTRE_M + np.concatenate([rng.uniform(-0.08, 0.08, 2), [0.0]])
    aside = np.clip(rng.normal(0.0, 0.02, 3), -0.05, 0.05)  # farther off, a command would have to exceed its range
    start = _TABLE_CENTRE_M + np.array([0.0, 0.0, _HOVER_M]) + aside
    contact = grasp_step + round((_FINGERS_OPEN_M - _FINGERS_ON_CUBE_M) / _FINGER_STEP_M)
    lifted = cube + np.array([0.0, 0.0, 0.10])
    hand = np.concatenate(
        [
            _minimum_jerk(start, cube, grasp_step - 2),
            np.tile(cube, (contact - grasp_step + 2, 1)),
            _minimum_jerk(cube, lifted, steps - contact + 1),
        ]
    )
    closing = np.arange(steps) >= grasp_step
    fingers = np.clip(
        _FINGERS_OPEN_M - _FINGER_STEP_M * np.maximum(np.arange(steps) - grasp_step, 0), _FINGERS_ON_CUBE_M, None
    )
    held = np.arange(steps) >= contact
    positions = hand[:-1]
    objects = np.where(held[:, None], positions, cube)
    return Demo(
        name=name,
        actions=_actions(hand, closing, spec),
        action_spec=spec,
        eef_position=positions,
        eef_quat_wxyz=np.tile(_DOWNWARDS, (steps, 1)),
        gripper=np.stack([fingers, -fingers], axis=1),
        object_position=objects if with_object else None,
        images={} if image_size is None else _cameras(positions, objects, image_size),
        subtask_signals={"grasp": held} if with_signals else {},
        task="lift the cube",
    )


def _minimum_jerk(start: Array, goal: Array, steps: int) -> Float[Array, "steps 3"]:
    s = np.linspace(0.0, 1.0, steps)[:, None]
    return start + (goal - start) * (10 * s**3 - 15 * s**4 + 6 * s**5)


def _actions(hand: Float[Array, "T1 3"], closing: Array, spec: ActionSpec) -> Float[Array, "T A"]:
    if spec.kind == "relative":
        position = np.diff(hand, axis=0) / (REALISED_SHARE * spec.position_scale_m)
        rotation = np.zeros((len(position), spec.dim - 4))
    elif spec.rotation == "axis_angle":
        position = hand[1:]
        rotation = np.tile([np.pi, 0.0, 0.0], (len(position), 1))
    else:
        raise SettingError("synthetic actions are relative, or absolute with axis angles", found=spec.rotation)
    gripper = np.where(closing, spec.gripper_closed, spec.gripper_open)[:, None]
    return np.concatenate([position, rotation, gripper], axis=1)


def _cameras(hand: Array, cube: Array, size: int) -> Mapping[str, Frames]:
    """Two pretend cameras, from above and from the hand: a red cube and a green hand on grey, pixel for pixel."""
    centre = _TABLE_CENTRE_M[:2]
    above = _picture([cube[:, :2] - centre, hand[:, :2] - centre], size, metres=0.4)
    wrist = _picture([cube[:, :2] - hand[:, :2]], size, metres=0.2)
    return {"agentview": Frames.of_array(above), "robot0_eye_in_hand": Frames.of_array(wrist)}


def _picture(dots: list[Array], size: int, metres: float) -> UInt8[Array, "T size size 3"]:
    pixel = (np.arange(size) + 0.5) / size * metres - metres / 2
    images = np.full((len(dots[0]), size, size, 3), 90, dtype=np.uint8)
    images += (np.arange(size, dtype=np.uint8) % 16)[:, None]  # a gradient, so that a flipped image is another image
    for dot, colour in zip(dots, ([200, 40, 40], [40, 200, 60]), strict=False):
        inside = (np.abs(pixel - dot[:, :1]) < 0.02)[:, None, :] & (np.abs(pixel - dot[:, 1:2]) < 0.02)[:, :, None]
        images[inside] = colour
    return images
