"""The experts by task."""

from __future__ import annotations

import difflib
from collections.abc import Callable

from sido.errors import SettingError
from sido.sim.experts.expert import Expert, ExpertSettings
from sido.sim.experts.gantry import gantry_expert
from sido.sim.experts.mug import mug_expert
from sido.sim.experts.peachtree import peachtree_expert
from sido.sim.experts.square import square_expert
from sido.sim.experts.stack import stack_expert
from sido.sim.vector_environment import VectorEnvironment

__all__ = ["EXPERTS", "expert_for"]

EXPERTS: dict[str, Callable[[VectorEnvironment, ExpertSettings], Expert]] = {
    "stack": stack_expert,
    "square": square_expert,
    "mug": mug_expert,
    "gantry": gantry_expert,
    "peachtree": peachtree_expert,
}
"""By the task's name, as in `sido.sim.tasks.TASKS`."""


def expert_for(world: VectorEnvironment, settings: ExpertSettings | None = None) -> Expert:
    """The expert for what the world plays.

    Raises:
        SettingError: nobody knows how to play that task.
    """
    name = world.task.name
    if name not in EXPERTS:
        close = difflib.get_close_matches(name, EXPERTS, n=1, cutoff=0.0)
        raise SettingError(
            "no expert for this task",
            found=repr(name),
            expected=f"one of {', '.join(EXPERTS)}",
            fix=f"did you mean {close[0]!r}?",
        )
    return EXPERTS[name](world, settings or ExpertSettings())
