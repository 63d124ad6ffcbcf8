"""One cluster for all tests of a file; the last of them loses a node."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from ray_nodes import two_nodes


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with two_nodes() as cluster:
        yield cluster


@pytest.fixture
def connected(cluster: Any) -> Iterator[str]:
    """The cluster's address, while this process is connected to it: its workers are then kept from run to run."""
    import ray

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ray.init(address=cluster.address, log_to_driver=False, logging_level=logging.CRITICAL)
        yield cluster.address
        ray.shutdown()
