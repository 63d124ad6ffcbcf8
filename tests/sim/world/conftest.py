"""Worlds of a task."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from sido.sim.settings import EnvironmentSettings
from sido.sim.tasks import Stack
from sido.sim.vector_environment import VectorEnvironment

MakeWorld = Callable[..., VectorEnvironment]


@pytest.fixture
def make_world(stack: Stack) -> Iterator[MakeWorld]:
    made: list[VectorEnvironment] = []

    def make(envs: int = 1, *, task=stack, threads: int = 1, render=None, **settings) -> VectorEnvironment:
        made.append(
            VectorEnvironment(task, envs=envs, settings=EnvironmentSettings(**settings), threads=threads, render=render)
        )
        return made[-1]

    yield make
    for world in made:
        world.close()
