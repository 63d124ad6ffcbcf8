"""Equivariant Diffusion Policy: a denoiser of chunks that sees the scene from each direction."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor

from sido.demos.action_spec import ActionSpec
from sido.demos.chunks import ChunkBatch
from sido.policies.action_form import ActionForm
from sido.policies.config import EquivariantPolicyConfig
from sido.policies.equivariant.action_field import ActionField, within_reach
from sido.policies.equivariant.observer import ImageFeatures, Observer
from sido.policies.equivariant.representation import Representation
from sido.policies.equivariant.rotation import orthonormal_rows
from sido.policies.equivariant.state import EquivariantState
from sido.policies.noise import Generators, standard_normal
from sido.policies.normaliser import Normaliser
from sido.policies.observation import ObservationWindow
from sido.policies.policy import Policy
from sido.policies.process import Denoise, Process
from sido.policies.window_check import require_finite, require_form

__all__ = ["EquivariantPolicy"]


@final
class EquivariantPolicy(Policy):
    """Turn what it sees by an eighth about the axis, and its noise, and its chunk turns.

    From state exactly; from images exactly by quarters, and by eighths as well as a square grid allows.
    `build_policy` puts the parts together.
    """

    def __init__(
        self,
        config: EquivariantPolicyConfig,
        action_spec: ActionSpec,
        *,
        normaliser: Normaliser,
        observer: Observer,
        field: ActionField,
        actions: Representation,
        process: Process,
    ) -> None:
        super().__init__()
        self.config = config
        self.action_spec = action_spec
        self.prediction_horizon = config.prediction_horizon
        self.observation_steps = config.observation.observation_steps
        self.cameras = tuple(camera.name for camera in config.observation.cameras)
        self.normaliser, self.observer, self.field = normaliser, observer, field
        self._process = process
        self._clip = functools.partial(within_reach, actions)
        self._form = ActionForm(action_spec)
        self._state = EquivariantState(config.observation)
        self._from_hand = config.goals_from_hand and action_spec.kind == "absolute"

    def loss(self, draws: Sequence[ChunkBatch], generator: torch.Generator) -> Float[Tensor, ""]:
        for draw in draws:
            require_form(ObservationWindow.of(draw), self.config.observation)
            self.action_spec.require_same(draw.action_spec, here="the policy", there="the batch")
        images = self.observer.images(draws[0].observations, generator if self.training else None)
        states = [self._state(self.normaliser, draw.observations, draw.object_position) for draw in draws]
        actions = torch.cat([draw.actions for draw in draws]).to(self.normaliser.scale)
        hand = torch.cat([draw.observations["eef_position"][:, -1] for draw in draws]).to(self.normaliser.scale)
        clean = self.normaliser.normalise("actions", self._moved(self._form.encode(actions), -hand))
        return self._process.loss(self._conditioned(torch.cat(states), images.repeat(len(draws))), clean, generator)

    @torch.no_grad()
    def predict(self, seen: ObservationWindow, generator: Generators) -> Float[Tensor, "B H A"]:
        scale = self.normaliser.scale
        shape = (len(seen), self.prediction_horizon, self._form.size)
        noise = standard_normal(shape, generator, device=scale.device, dtype=scale.dtype)
        return self.predict_from(noise, seen, generator)

    @torch.no_grad()
    def predict_from(
        self, noise: Float[Tensor, "B H C"], seen: ObservationWindow, generator: Generators
    ) -> Float[Tensor, "B H A"]:
        """What `predict` makes of this noise, which has the form of actions that the network sees.

        Turning both noise and scene turns the chunk (where the process draws no further noise on the way).
        """
        require_form(seen, self.config.observation)
        require_finite(seen, self.config.observation)
        seen = seen.to(self.normaliser.scale.device)
        state = self._state(self.normaliser, seen.observations, seen.object_position)
        denoise = self._conditioned(state, self.observer.images(seen.observations, None))
        chunk = self._process.sample(denoise, noise, generator, clip=self._clip)
        chunk = self.normaliser.denormalise("actions", chunk)
        chunk = self._moved(chunk, seen.observations["eef_position"][:, -1].to(chunk))
        if self._form.rotation == "rot6d":
            chunk = torch.cat([chunk[..., :3], orthonormal_rows(chunk[..., 3:9]), chunk[..., 9:]], dim=-1)
        return self._form.decode(chunk)

    def _moved(self, actions: Float[Tensor, "B H C"], way: Float[Tensor, "B 3"]) -> Float[Tensor, "B H C"]:
        """Between goals and ways from the hand to them, if the network says these."""
        if not self._from_hand:
            return actions
        return torch.cat([actions[..., :3] + way[:, None], actions[..., 3:]], dim=-1)

    def _conditioned(self, state: Float[Tensor, "B O n"], images: ImageFeatures) -> Denoise:
        # Every direction's fields, of all observation steps: [B, 8, O * fields].
        seen = self.observer(state, images).transpose(1, 2).flatten(2)
        return lambda noisy, time: self.field(noisy, time, seen)
