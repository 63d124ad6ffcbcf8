"""Policies for evaluations, to be made in any process."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch

from acting import Reacher
from policy_batches import policy_statistics
from sido.demos import ACTION_SPECS
from sido.policies import (
    Actor,
    DiffusionPolicyConfig,
    FlowMatchingConfig,
    MlpConfig,
    ObservationConfig,
    PoseChannel,
    build_policy,
)
from sido.sim.tasks import shared_task

SHORT_S = 1.2


@contextmanager
def short_episodes() -> Generator[None]:
    """Of Stack, in this process."""
    stack: Any = shared_task("stack")
    usual = stack.horizon_s
    stack.horizon_s = SHORT_S
    try:
        yield
    finally:
        stack.horizon_s = usual


@dataclass(frozen=True)
class Hasty:
    """As `Reaching`; makes episodes short in whatever process it is made in, for good where that is another."""

    identity: str = "reaching"
    home: int = field(default_factory=os.getpid)

    def __call__(self) -> Actor:
        if os.getpid() != self.home:
            stack: Any = shared_task("stack")
            stack.horizon_s = SHORT_S
        return Reaching()()


@dataclass(frozen=True)
class Reaching:
    """Goes to where it is told that the object is, with a shaky hand."""

    identity: str = "reaching"
    cameras: tuple[str, ...] = ()

    def __call__(self) -> Actor:
        return Reacher(noise_m=0.002, cameras=self.cameras)


@dataclass(frozen=True)
class Untrained:
    """A small diffusion policy with fresh weights."""

    identity: str = "untrained"
    channel: PoseChannel = "future"

    def __call__(self) -> Actor:
        observation = ObservationConfig(self.channel, landmarks=("cubeB",))
        config = DiffusionPolicyConfig(observation, None, MlpConfig(64, 2), FlowMatchingConfig(3))
        spec = ACTION_SPECS["osc-absolute"]
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(7)
            return build_policy(config, policy_statistics(observation, spec), spec)
