"""The tasks, each built once in a process: a scene takes a second or two, and nothing changes it."""

from __future__ import annotations

import pytest

from sido.sim.tasks import Mug, Peachtree, Square, Stack, shared_task


@pytest.fixture(scope="session")
def stack() -> Stack:
    task = shared_task("stack")
    assert isinstance(task, Stack)
    return task


@pytest.fixture(scope="session")
def square() -> Square:
    task = shared_task("square")
    assert isinstance(task, Square)
    return task


@pytest.fixture(scope="session")
def mug() -> Mug:
    task = shared_task("mug")
    assert isinstance(task, Mug)
    return task


@pytest.fixture(scope="session")
def peachtree() -> Peachtree:
    task = shared_task("peachtree")
    assert isinstance(task, Peachtree)
    return task
