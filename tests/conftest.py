"""Shapes and types are checked for real under pytest, and only there."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings
from jaxtyping import config, install_import_hook

from golden_files import Golden

os.environ.setdefault("MPLBACKEND", "Agg")
# No deadlines: a busy machine is no failure. Speed is measured in benchmarks/.
settings.register_profile("sido", deadline=None, max_examples=50)
settings.load_profile("sido")
install_import_hook("sido", "runtime_types.check")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--golden-rewrite", action="store_true", help="write golden files instead of comparing with them")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    return Golden(request.config.getoption("--golden-rewrite"))


@pytest.fixture
def as_user() -> Iterator[None]:
    """Run without the shape checks, as a user does: bad input then meets sido's own errors."""
    config.update("jaxtyping_disable", True)
    yield
    config.update("jaxtyping_disable", False)
