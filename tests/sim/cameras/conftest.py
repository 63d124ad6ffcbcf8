"""A task, built once."""

from __future__ import annotations

import pytest

from sido.sim.tasks import Stack


@pytest.fixture(scope="session")
def stack() -> Stack:
    return Stack()
