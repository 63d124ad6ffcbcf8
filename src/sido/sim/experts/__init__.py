"""Scripted experts: they play tasks to collect demonstrations, and show what is possible."""

from sido.sim.experts.expert import Expert, ExpertSettings
from sido.sim.experts.experts import EXPERTS, expert_for

__all__ = ["EXPERTS", "Expert", "ExpertSettings", "expert_for"]
