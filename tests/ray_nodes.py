"""A Ray cluster of two nodes on this machine, one processor each."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

_ENVIRONMENT = {
    "PYTHONPATH": str(Path(__file__).parent),
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    # A lost node is noticed by its silence: of a second, and not of half a minute.
    "RAY_health_check_period_ms": "250",
    "RAY_health_check_timeout_ms": "500",
    "RAY_health_check_failure_threshold": "3",
}
_NODE = {"num_cpus": 1, "include_dashboard": False, "object_store_memory": 100 * 2**20}


@contextmanager
def two_nodes() -> Iterator[Any]:
    """Ray's own `Cluster`; its processes find the modules of tests/."""
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, value in _ENVIRONMENT.items():
            patch.setenv(name, value)
        from ray.cluster_utils import Cluster

        cluster = Cluster(initialize_head=True, head_node_args=_NODE)
        try:
            cluster.add_node(**_NODE)
            yield cluster
        finally:
            cluster.shutdown()
