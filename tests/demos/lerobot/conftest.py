from __future__ import annotations

from pathlib import Path

import pytest

from demos.lerobot.examples import make_demo, write
from sido.demos.demo import Demo


@pytest.fixture(scope="session")
def demos() -> list[Demo]:
    return [make_demo(seed, steps=60 + 3 * seed) for seed in range(3)]


@pytest.fixture(scope="session")
def dataset(demos: list[Demo], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Written once; not to be changed."""
    return write(tmp_path_factory.mktemp("lerobot") / "images", demos)


@pytest.fixture(scope="session")
def video_dataset(demos: list[Demo], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Written once; not to be changed."""
    return write(tmp_path_factory.mktemp("lerobot") / "videos", demos, video=True)
