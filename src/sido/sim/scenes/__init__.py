"""The scenes of our own. Each is a module: what moves in it and where, `build`, `place`, `target`, `succeeded`."""

from sido.sim.scenes import gantry, mug, peachtree
from sido.sim.scenes.carrier import Carrier, carry

__all__ = ["Carrier", "carry", "gantry", "mug", "peachtree"]
