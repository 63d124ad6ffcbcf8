"""Observation windows to chunks of actions.

| file | what it holds |
|---|---|
| `policy.py` | the contract: `Policy`, which is trained; `Actor`, all that deployment needs |
| `observation.py` | `ObservationWindow`: what a policy sees |
| `noise.py` | where sampling takes its noise from: one generator for a batch, or one for each sample |
| `config.py` | what a policy is made of, as frozen data with JSON |
| `settings_json.py` | frozen dataclasses as JSON and back |
| `statistics.py` | `Statistics`: the range of the training data, as counterfactuals will have it |
"""

from sido.policies.config import (
    CameraConfig,
    DiffusionConfig,
    DiffusionPolicyConfig,
    DinoV3Config,
    EquivariantPolicyConfig,
    FlowMatchingConfig,
    MlpConfig,
    ObservationConfig,
    PolicyConfig,
    PoseChannel,
    ResNet18Config,
    SmallCnnConfig,
    UnetConfig,
    policy_config_from_json,
)
from sido.policies.noise import Generators, standard_normal
from sido.policies.observation import ObservationWindow
from sido.policies.policy import Actor, Policy
from sido.policies.settings_json import read_settings, write_settings
from sido.policies.statistics import Statistics

__all__ = [
    "Actor",
    "CameraConfig",
    "DiffusionConfig",
    "DiffusionPolicyConfig",
    "DinoV3Config",
    "EquivariantPolicyConfig",
    "FlowMatchingConfig",
    "Generators",
    "MlpConfig",
    "ObservationConfig",
    "ObservationWindow",
    "Policy",
    "PolicyConfig",
    "PoseChannel",
    "ResNet18Config",
    "SmallCnnConfig",
    "Statistics",
    "UnetConfig",
    "policy_config_from_json",
    "read_settings",
    "standard_normal",
    "write_settings",
]
