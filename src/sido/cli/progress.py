"""The progress bar of long work."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Protocol, final, runtime_checkable

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.text import Text

from sido.cli.duration import rough_duration

__all__ = ["Bar", "Journey", "journey", "progress_bar"]


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


@contextmanager
def journey(left_s: Callable[[], float]) -> Generator[Journey]:
    """Show how far work of several stages is: the present one as a bar, and how much time is left of all.

    On a stream that is no terminal each stage is a line, when it begins.

    Args:
        left_s: Seconds that are left, of everything.
    """
    console = Console(stderr=True)
    shown = Journey(console, left_s)
    if not console.is_terminal:
        yield shown
        return
    with Live(console=console, transient=True, get_renderable=shown.drawn, refresh_per_second=4):
        yield shown


@final
class Journey:
    """What `journey` shows; call it with the stage, how much of it is done, of how much, and a detail."""

    def __init__(self, console: Console, left_s: Callable[[], float]) -> None:
        self._console, self._left_s = console, left_s
        self._bar = Progress(TextColumn("{task.description}"), BarColumn(bar_width=24), MofNCompleteColumn())
        self._stage = self._bar.add_task("looking at what there is", total=None)
        self._what, self._detail = "", ""

    def __call__(self, what: str, done: float, total: float, detail: str = "") -> None:
        if what != self._what and not self._console.is_terminal:
            self._console.print(f"{time.strftime('%H:%M:%S')} {what}; {self._left()}", soft_wrap=True, markup=False)
        self._what, self._detail = what, detail
        self._bar.update(self._stage, description=what, completed=round(done), total=round(total))

    def drawn(self) -> Group:
        """Two lines: the stage, and what is left."""
        told = Text(f"{self._left()}  {self._detail}", style="dim", no_wrap=True, overflow="ellipsis")
        return Group(self._bar, told)

    def _left(self) -> str:
        return f"about {rough_duration(self._left_s())} left in all"
