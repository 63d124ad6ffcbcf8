"""Scripted experts: they play tasks to collect demonstrations, and show what is possible."""

from sido.sim.experts.expert import Expert, ExpertSettings

__all__ = ["Expert", "ExpertSettings"]
