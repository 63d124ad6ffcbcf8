"""One task, built once, and whoever holds still in it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from hands import holding
from sido.motion import motion_named
from sido.sim.settings import EnvironmentSettings
from sido.sim.tasks import Stack
from sido.sim.vector_environment import VectorEnvironment


class Idle:
    """An actor that keeps the hand where the episode began; it notes for whom it was asked."""

    def __init__(self, world: VectorEnvironment) -> None:
        self.world, self.begun = world, []

    def begin(self, envs, seeds) -> None:
        self.begun.append((list(envs), list(seeds)))
        self.goal = holding(self.world)

    def actions(self) -> np.ndarray:
        return self.goal


@pytest.fixture
def world(stack: Stack) -> Iterator[VectorEnvironment]:
    with VectorEnvironment(stack, envs=1, settings=EnvironmentSettings(motion=motion_named("circle"))) as made:
        yield made


@pytest.fixture
def idle(world: VectorEnvironment) -> Idle:
    return Idle(world)
