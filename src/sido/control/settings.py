"""How an agent acts."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import final

from sido.control.correction import Correction
from sido.control.grasp_gate import GraspGate
from sido.control.horizon import ChunkHorizon, Horizon
from sido.control.safety import Safety
from sido.errors import SettingError
from sido.predict import Belief

__all__ = ["AgentSettings"]


@final
@dataclass(frozen=True)
class AgentSettings:
    """Without arguments, the paper's: `T_a` = 8, predicting `T_p` ahead until the gripper closes."""

    action_horizon: int = 8
    """`T_a`: how many actions of a chunk are executed."""
    reaching_action_horizon: int | None = None
    """How many, while the object is still to be reached; `action_horizon`, if not given. Re-planning earlier helps
    only there."""
    horizon: Horizon = field(default_factory=ChunkHorizon)
    """How far ahead the predictor is asked."""
    correction: Correction | None = None
    """How commands follow the object between plans."""
    gate: GraspGate = field(default_factory=GraspGate)
    """When the object is grasped."""
    latency_s: float = 0.0
    """How long after its observation a chunk's first action is executed: inference, and whatever else takes time. The
    horizon grows by it. (The pose's own age is known from its stamp.)"""
    belief: Belief = field(default_factory=Belief)
    """Which poses are believed."""
    safety: Safety = field(default_factory=Safety)
    rows_per_call: int | None = None
    """The policy is always asked for so many sessions at once, some of them made up where fewer plan; None asks for
    those that plan. A matrix product depends in its last bits on how many rows there are: with a number here, an agent
    of one session acts to the last bit like the same session among others."""

    def __post_init__(self) -> None:
        for name in ("action_horizon", "reaching_action_horizon", "rows_per_call"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise SettingError("too small", field=f"AgentSettings.{name}", found=value, expected="1 or more")
        if not (math.isfinite(self.latency_s) and self.latency_s >= 0.0):
            raise SettingError(
                "not usable", field="AgentSettings.latency_s", found=self.latency_s, expected="seconds, 0 or more"
            )
