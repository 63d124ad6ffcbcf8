"""A policy and a predictor at the controls: the same agent runs in simulation and on a robot.

| file | what it holds |
|---|---|
| `agent.py` | `Agent`: observations in, actions out |
| `observation.py` | `Observation`: what robots report at one moment |
| `settings.py` | `AgentSettings` |
| `pose_history.py` | the last estimates of where the object is |
| `grasp_gate.py` | `GraspGate`: when the object is still to be reached, and when it is in the hand |
| `horizon.py` | how far ahead the predictor is asked: `ChunkHorizon`, `ContactHorizon` |
| `window.py`, `chunks.py` | what was seen, what is being done |
| `correction.py` | commands that follow the object between plans: `ActionCompensation`, `VelocityFeedForward` |
| `safety.py` | the last look before a robot gets them |
| `insight.py` | `Insight`: what the agent had in mind, for logs |
"""

from sido.control.agent import Agent
from sido.control.correction import OSC_LAG_S, ActionCompensation, Correction, VelocityFeedForward
from sido.control.grasp_gate import GraspGate, Phase
from sido.control.horizon import ChunkHorizon, ContactHorizon, Horizon
from sido.control.insight import Insight
from sido.control.observation import Observation
from sido.control.safety import Safety, UnsafeActionError
from sido.control.settings import AgentSettings

__all__ = [
    "OSC_LAG_S",
    "ActionCompensation",
    "Agent",
    "AgentSettings",
    "ChunkHorizon",
    "ContactHorizon",
    "Correction",
    "GraspGate",
    "Horizon",
    "Insight",
    "Observation",
    "Phase",
    "Safety",
    "UnsafeActionError",
    "VelocityFeedForward",
]
