"""From configs to the parts that policies share."""

from __future__ import annotations

from sido.policies.config import DenoiserConfig, FlowMatchingConfig, MlpConfig, ProcessConfig
from sido.policies.denoiser import Denoiser
from sido.policies.diffusion import Diffusion
from sido.policies.flow_matching import FlowMatching
from sido.policies.mlp import Mlp
from sido.policies.process import Process
from sido.policies.unet import Unet

__all__ = ["build_denoiser", "build_process"]


def build_denoiser(config: DenoiserConfig, *, horizon: int, action_size: int, condition_size: int) -> Denoiser:
    """A denoiser of chunks `[horizon, action_size]`, given `condition_size` numbers."""
    if isinstance(config, MlpConfig):
        return Mlp(config, horizon=horizon, action_size=action_size, condition_size=condition_size)
    return Unet(config, action_size=action_size, condition_size=condition_size)


def build_process(config: ProcessConfig) -> Process:
    return FlowMatching(config) if isinstance(config, FlowMatchingConfig) else Diffusion(config)
