"""The robot's own dynamics, learnt from demonstrations: what the hand does when it is told something.

| file | what it holds |
|---|---|
| `motion.py` | `RobotMotion`: a demonstration as states and commands |
| `model.py` | `DynamicsModel`, f_psi: a step, a rollout, and their derivatives |
| `fit.py` | `fit_dynamics`: ridge regression, then a network on what that leaves |
| `errors.py` | one-step and open-loop errors on demonstrations held out |
| `disk.py` | a model in a folder: JSON and safetensors |
"""

from sido.augment.dynamics.errors import DynamicsErrors, dynamics_errors
from sido.augment.dynamics.fit import FitSettings, fit_dynamics
from sido.augment.dynamics.model import DynamicsModel
from sido.augment.dynamics.motion import RobotMotion, encoded_commands

__all__ = [
    "DynamicsErrors",
    "DynamicsModel",
    "FitSettings",
    "RobotMotion",
    "dynamics_errors",
    "encoded_commands",
    "fit_dynamics",
]
