"""Many environments of one model, a control period of each in one native call."""

from sido.sim.stepper.contacts import ContactPair
from sido.sim.stepper.drive import Drive
from sido.sim.stepper.stepper import Stepper

__all__ = ["ContactPair", "Drive", "Stepper"]
