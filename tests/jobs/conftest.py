"""A Ray cluster of two nodes on this machine, one processor each."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import works


@pytest.fixture
def connected(cluster: Any) -> Iterator[str]:
    """The cluster's address, while this process is connected to it: its workers are then kept from run to run."""
    import ray

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ray.init(address=cluster.address, log_to_driver=False, logging_level=logging.CRITICAL)
        yield cluster.address
        ray.shutdown()


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("PYTHONPATH", str(Path(works.__file__).parent))
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    # A lost node is noticed by its silence: of one second, and not of half a minute.
    monkeypatch.setenv("RAY_health_check_period_ms", "250")
    monkeypatch.setenv("RAY_health_check_timeout_ms", "500")
    monkeypatch.setenv("RAY_health_check_failure_threshold", "3")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from ray.cluster_utils import Cluster

        made = Cluster(
            initialize_head=True,
            head_node_args={"num_cpus": 1, "include_dashboard": False, "object_store_memory": 100 * 2**20},
        )
        made.add_node(num_cpus=1, object_store_memory=100 * 2**20)
        yield made
        made.shutdown()
