"""Scenes, built once, and steppers on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from sido.geometry import axis_angle_from_quat
from sido.sim.osc import OscSettings
from sido.sim.scene import Scene
from sido.sim.stepper import Stepper
from sido.sim.tasks import Stack

MakeStepper = Callable[..., Stepper]


@pytest.fixture(scope="session")
def scene(stack: Stack) -> Scene:
    return stack.scene


@pytest.fixture
def make_stepper(scene: Scene) -> Iterator[MakeStepper]:
    """Steppers on the Stack scene, every environment at home with its cubes on the table."""
    made: list[Stepper] = []

    def make(**settings: Any) -> Stepper:
        options: dict[str, Any] = {"envs": 1, "contacts": scene.grasp_contacts("cubeA"), "driven": "cubeA_joint0"}
        options |= settings
        stepper = Stepper(scene.physics, options.pop("arm", scene.arm), options.pop("osc", OscSettings()), **options)
        made.append(stepper)
        for i in range(len(stepper)):
            stepper.reset(i, home_of(scene))
        return stepper

    yield make
    for stepper in made:
        stepper.close()


def home_of(scene: Scene) -> Any:
    """The arm at rest, cubeA 10 cm before the hand, cubeB well away."""
    qpos = np.array(scene.home_qpos)
    for name, xyz in (("cubeA", (0.0, 0.1, 0.82)), ("cubeB", (0.1, -0.2, 0.825))):
        at = scene[name].qpos_address
        qpos[at : at + 7] = (*xyz, 1.0, 0.0, 0.0, 0.0)
    return qpos


def hold(stepper: Stepper, gripper: float = -1.0) -> Any:
    """Absolute actions that hold every hand where it is."""
    rotation = axis_angle_from_quat(stepper.eef_quat_wxyz)
    return np.concatenate([stepper.eef_position, rotation, np.full((len(stepper), 1), gripper)], axis=1)
