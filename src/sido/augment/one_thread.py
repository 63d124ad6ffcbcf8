"""torch on one thread: the same numbers wherever, and on a busy machine many times as fast as on two."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import torch

__all__ = ["one_thread"]


@contextmanager
def one_thread() -> Generator[None]:
    """Within: torch's own operations run on one thread each; how many there are may change the last bits of results."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
