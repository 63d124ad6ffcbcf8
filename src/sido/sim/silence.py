"""Using robosuite without its chatter."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Generator
from contextlib import contextmanager

__all__ = ["silence"]


@contextmanager
def silence() -> Generator[None]:
    """Its logger prints advice, and it leaves files open: within this, neither is heard of."""
    logger = logging.getLogger("robosuite_logs")
    disabled, logger.disabled = logger.disabled, True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.disabled = disabled
