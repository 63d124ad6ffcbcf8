"""Ctrl-C during long work: the step at hand is ended, and nothing is left half done."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType

__all__ = ["interruptible"]

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def interruptible() -> Generator[Callable[[], None]]:
    """Yield a function to be called between steps: it raises KeyboardInterrupt if somebody asked to stop meanwhile.

    Python raises KeyboardInterrupt in whatever line it is at. Within HDF5's callbacks that becomes another error, or
    none; zarr goes on writing in its threads. So Ctrl-C (and SIGTERM, by which schedulers end jobs) is only noted, and
    takes effect where the work is in order. A second one takes effect at once.
    """
    asked = threading.Event()

    def note(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - signal handlers are called so
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()
        if sys.stderr.isatty():
            print("\nstopping after this step; Ctrl-C again stops at once", file=sys.stderr)

    def between_steps() -> None:
        if asked.is_set():
            raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():  # where Python takes no signals
        yield between_steps
        return
    before = {number: signal.signal(number, note) for number in _SIGNALS}
    try:
        yield between_steps
        between_steps()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
