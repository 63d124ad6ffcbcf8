"""The scenes, built once, and a hand that plays in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import mujoco
import numpy as np
import pytest

from sido.geometry import axis_angle_from_matrix
from sido.sim.osc import OscSettings
from sido.sim.scene import Scene
from sido.sim.scenes import gantry, mug, peachtree
from sido.sim.stepper import Drive, Stepper
from sido.sim.tasks import shared_task

MODULES = {"mug": mug, "gantry": gantry, "peachtree": peachtree}


@pytest.fixture(scope="session")
def scenes() -> dict[str, Scene]:
    return {name: shared_task(name).scene for name in MODULES}


@pytest.fixture
def mug_scene(scenes: dict[str, Scene]) -> Scene:
    return scenes["mug"]


@pytest.fixture
def gantry_scene(scenes: dict[str, Scene]) -> Scene:
    return scenes["gantry"]


@pytest.fixture
def peach_scene(scenes: dict[str, Scene]) -> Scene:
    return scenes["peachtree"]


def data_at(scene: Scene, qpos: Any) -> mujoco.MjData:
    """MuJoCo's own view of a state."""
    data = mujoco.MjData(scene.model)
    data.qpos[:] = qpos
    mujoco.mj_forward(scene.model, data)
    return data


def by(x: float, y: float, z: float) -> Any:
    """A shift, metres."""
    return np.array([x, y, z], dtype=np.float64)


def pointing(pitch_rad: float = 0.0) -> Any:
    """Down and tilted forward, the fingers closing along y; axis-angle of the grip site."""
    z = np.array([np.sin(pitch_rad), 0.0, -np.cos(pitch_rad)])
    x = np.array([0.0, 1.0, 0.0])
    return axis_angle_from_matrix(np.stack([x, np.cross(z, x), z], axis=1))


class Hand:
    """Takes the grip site from place to place, world frame, in straight lines of 1 cm per control step."""

    def __init__(self, scene: Scene, qpos: Any, moving: str, *, pitch_rad: float = 0.0, driven: bool = False) -> None:
        self.scene, self.moving, self.attitude = scene, moving, pointing(pitch_rad)
        self.stepper = Stepper(
            scene.physics,
            scene.arm,
            OscSettings(),
            envs=1,
            contacts=scene.grasp_contacts(moving),
            driven=moving,
            release=("left_pad", "right_pad"),
        )
        self.stepper.reset(0, qpos)
        self.goal = self.position
        self.hung_at = self.object if driven else None
        self.gripper = -1.0

    @property
    def qpos(self) -> Any:
        return self.stepper.qpos[0].copy()

    @property
    def position(self) -> Any:
        return self.stepper.eef_position[0] + self.scene.arm.base_pose.position

    @property
    def object(self) -> Any:
        address = self.scene[self.moving].qpos_address
        return self.qpos[address : address + 3]

    @property
    def held(self) -> bool:
        return bool((self.stepper.touching("left_pad") & self.stepper.touching("right_pad"))[0])

    def _drive(self) -> Drive | None:
        if self.hung_at is None:
            return None
        substeps = self.stepper.substeps
        place = self.hung_at - self.scene.arm.base_pose.position
        return Drive(
            np.tile(place, (1, substeps, 1)),
            np.zeros((1, substeps, 3)),
            np.array([[1.0, 0.0, 0.0, 0.0]]),
            np.array([True]),
        )

    def stay(self, steps: int) -> Hand:
        for _ in range(steps):
            action = np.concatenate([self.goal - self.scene.arm.base_pose.position, self.attitude, [self.gripper]])
            self.stepper.step(action[None], self._drive())
            assert self.stepper.fault_reason(0) is None
            if self.stepper.released_at[0] >= 0:
                self.hung_at = None
        return self

    def go(self, place: Any) -> Hand:
        """There, and then 8 steps to arrive."""
        way = np.asarray(place, dtype=np.float64) - self.goal
        steps = max(1, int(np.ceil(np.linalg.norm(way) / 0.01)))
        for _ in range(steps):
            self.goal = self.goal + way / steps
            self.stay(1)
        return self.stay(8)

    def close(self) -> Hand:
        self.gripper = 1.0
        return self.stay(14)

    def open(self) -> Hand:
        self.gripper = -1.0
        return self.stay(12)


MakeHand = Callable[..., Hand]


@pytest.fixture
def make_hand() -> Iterator[MakeHand]:
    made: list[Hand] = []

    def make(*args: Any, **settings: Any) -> Hand:
        made.append(Hand(*args, **settings))
        return made[-1]

    yield make
    for hand in made:
        hand.stepper.close()
