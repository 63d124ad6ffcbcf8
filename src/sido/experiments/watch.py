"""Looking after work that does not report itself."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager

__all__ = ["watched"]


@contextmanager
def watched(look: Callable[[], None], every_s: float = 1.0) -> Generator[None]:
    """Call `look` again and again, in a thread of its own, while the block runs."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(every_s):
            look()

    thread = threading.Thread(target=watch, name="sido watch", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
