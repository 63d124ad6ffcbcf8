"""The progress bar of long work."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Protocol, runtime_checkable

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

__all__ = ["Bar", "progress_bar"]


@runtime_checkable
class Bar(Protocol):
    """Tells the bar how far the work is, and what else there is to say of it."""

    def __call__(self, done: int, total: int, detail: str = "", /) -> None: ...


@contextmanager
def progress_bar(what: str) -> Generator[Bar]:
    """Show a bar on the terminal's error stream while the block runs; call what it yields with (done, total).

    On a stream that is no terminal nothing is shown, so that logs stay readable.
    """
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[detail]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=None, detail="")
        yield lambda done, total, detail="", /: bar.update(task, completed=done, total=total, detail=detail)
