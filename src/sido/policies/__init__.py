"""Observation windows to chunks of actions.

| file | what it holds |
|---|---|
| `policy.py` | the contract: `Policy`, which is trained; `Actor`, all that deployment needs |
| `observation.py` | `ObservationWindow`: what a policy sees |
| `noise.py` | where sampling takes its noise from: one generator for a batch, or one for each sample |
| `config.py` | what a policy is made of, as frozen data with JSON |
| `settings_json.py` | frozen dataclasses as JSON and back |
| `statistics.py` | `Statistics`: the range of the training data, as counterfactuals will have it |
| `normaliser.py` | `Normaliser`: raw units to [-1, 1] and back |
| `action_form.py` | `ActionForm`: actions as a network sees them |
| `state_features.py` | `StateFeatures`: what a policy is told besides images |
| `denoiser.py` | the contract of a network that denoises chunks: `mlp.py`, `unet.py` |
| `process.py` | the contract of how chunks become noise and come back: `flow_matching.py`, `diffusion.py` |
| `diffusion_policy.py` | `DiffusionPolicy`, with `window_check.py` at its door |
| `equivariant/` | `EquivariantPolicy`, whose chunks turn with the scene |
| `build.py`, `build_parts.py` | policies and their parts from configs |
| `weights.py` | a policy on disk |
"""

from sido.policies.action_form import ActionForm
from sido.policies.build import build_policy
from sido.policies.build_parts import build_denoiser, build_process
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
from sido.policies.denoiser import Denoiser
from sido.policies.diffusion import Diffusion
from sido.policies.diffusion_policy import DiffusionPolicy
from sido.policies.equivariant import EquivariantPolicy
from sido.policies.flow_matching import FlowMatching
from sido.policies.noise import Generators, standard_normal
from sido.policies.normaliser import Normaliser
from sido.policies.observation import ObservationWindow
from sido.policies.policy import Actor, Policy
from sido.policies.process import Process
from sido.policies.settings_json import read_settings, write_settings
from sido.policies.state_features import StateFeatures
from sido.policies.statistics import Statistics
from sido.policies.weights import load_policy, save_policy

__all__ = [
    "ActionForm",
    "Actor",
    "CameraConfig",
    "Denoiser",
    "Diffusion",
    "DiffusionConfig",
    "DiffusionPolicy",
    "DiffusionPolicyConfig",
    "DinoV3Config",
    "EquivariantPolicy",
    "EquivariantPolicyConfig",
    "FlowMatching",
    "FlowMatchingConfig",
    "Generators",
    "MlpConfig",
    "Normaliser",
    "ObservationConfig",
    "ObservationWindow",
    "Policy",
    "PolicyConfig",
    "PoseChannel",
    "Process",
    "ResNet18Config",
    "SmallCnnConfig",
    "StateFeatures",
    "Statistics",
    "UnetConfig",
    "build_denoiser",
    "build_policy",
    "build_process",
    "load_policy",
    "policy_config_from_json",
    "read_settings",
    "save_policy",
    "standard_normal",
    "write_settings",
]
