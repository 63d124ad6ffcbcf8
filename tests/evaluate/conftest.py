"""Stack with short episodes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sources import short_episodes


@pytest.fixture
def quick() -> Iterator[None]:
    with short_episodes():
        yield
