"""The contract: an observation window in, a chunk of actions out, and a loss to learn that from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from sido.demos.action_spec import ActionSpec
from sido.demos.chunks import ChunkBatch
from sido.policies.config import PolicyConfig
from sido.policies.noise import Generators
from sido.policies.observation import ObservationWindow

__all__ = ["Actor", "Policy"]


@runtime_checkable
class Actor(Protocol):
    """All that deployment needs of a policy: any other library's fits behind these."""

    action_spec: ActionSpec
    prediction_horizon: int
    observation_steps: int
    cameras: tuple[str, ...]

    def predict(self, seen: ObservationWindow, generator: Generators) -> Float[Tensor, "B H A"]: ...


class Policy(nn.Module, ABC):
    """An `Actor` that is trained here. Weights, normaliser included, are its state dict; the rest is its config.

    All randomness comes from the generators that are passed in, which may live on another device than the policy.
    `train()` and `eval()` choose between random and centred image crops in `loss`; `predict` always centres.
    """

    config: PolicyConfig
    action_spec: ActionSpec
    prediction_horizon: int
    observation_steps: int
    cameras: tuple[str, ...]

    @abstractmethod
    def loss(self, draws: Sequence[ChunkBatch], generator: torch.Generator) -> Float[Tensor, ""]:
        """The training loss, the mean over all samples of all draws.

        The draws are of the same transitions, each with its own counterfactual, and share their image tensors: images
        are encoded once. A single batch is `[batch]`. Padded actions (repeats of the last) count like any others, as
        in diffusion_policy, equidiff and LeRobot's default: that is how a policy learns to stay where it ends.
        """

    @abstractmethod
    def predict(self, seen: ObservationWindow, generator: Generators) -> Float[Tensor, "B H A"]:
        """Chunks that start with action `t`, in the units of `action_spec`; without gradients, whatever the mode.

        Given a generator for each sample, each draws from its own (`noise.standard_normal`), so that agents that share
        a batch do not share their fate.
        """
