"""Two tasks, built once."""

from __future__ import annotations

import pytest

from sido.sim.tasks import Square, Stack


@pytest.fixture(scope="session")
def stack() -> Stack:
    return Stack()


@pytest.fixture(scope="session")
def square() -> Square:
    return Square()
