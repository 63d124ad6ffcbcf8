"""The tasks by name."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Callable

from sido.errors import SettingError
from sido.sim.tasks.gantry import Gantry
from sido.sim.tasks.mug import Mug
from sido.sim.tasks.peachtree import Peachtree
from sido.sim.tasks.square import Square
from sido.sim.tasks.stack import Stack
from sido.sim.tasks.task import Task

__all__ = ["TASKS", "shared_task", "task_named"]

TASKS: dict[str, Callable[[], Task]] = {
    "stack": Stack,
    "square": Square,
    "mug": Mug,
    "gantry": Gantry,
    "peachtree": Peachtree,
}
"""By the name that `sido collect` takes; `sido/Stack-v0` has it with a capital. Each builds its scene."""


def task_named(name: str) -> Task:
    """A task.

    Raises:
        SettingError: there is none of that name.
    """
    if name not in TASKS:
        close = difflib.get_close_matches(name, TASKS, n=1, cutoff=0.0)
        raise SettingError(
            "unknown task",
            found=repr(name),
            expected=f"one of {', '.join(TASKS)}",
            fix=f"did you mean {close[0]!r}?",
        )
    return TASKS[name]()


@functools.cache
def shared_task(name: str) -> Task:
    """The task, built once in this process: its scene takes a second or two, and nothing changes it."""
    return task_named(name)
