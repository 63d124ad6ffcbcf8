"""Diffusion Policy: a denoiser of chunks, conditioned on what is seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor

from sido.demos.action_spec import ActionSpec
from sido.demos.chunks import ChunkBatch
from sido.policies.action_form import ActionForm
from sido.policies.config import DiffusionPolicyConfig
from sido.policies.denoiser import Denoiser
from sido.policies.encoders import Encoder
from sido.policies.noise import Generators, standard_normal
from sido.policies.normaliser import Normaliser
from sido.policies.observation import ObservationWindow
from sido.policies.policy import Policy
from sido.policies.process import Denoise, Process
from sido.policies.spotter import Spotter
from sido.policies.state_features import StateFeatures
from sido.policies.window_check import require_finite, require_form

__all__ = ["DiffusionPolicy"]

SPOTTING_WEIGHT = 0.3
"""Of the error of positions read off images, beside the denoiser's."""


@final
class DiffusionPolicy(Policy):
    """State and image features of all observation steps make one vector; the denoiser turns noise into a chunk.

    `build_policy` puts the parts together.
    """

    def __init__(
        self,
        config: DiffusionPolicyConfig,
        action_spec: ActionSpec,
        *,
        normaliser: Normaliser,
        state: StateFeatures,
        encoder: Encoder | None,
        spotter: Spotter | None,
        denoiser: Denoiser,
        process: Process,
    ) -> None:
        super().__init__()
        self.config = config
        self.action_spec = action_spec
        self.prediction_horizon = config.prediction_horizon
        self.observation_steps = config.observation.observation_steps
        self.cameras = tuple(camera.name for camera in config.observation.cameras)
        self.normaliser, self.encoder, self.spotter, self.denoiser = normaliser, encoder, spotter, denoiser
        self._process = process
        self._form = ActionForm(action_spec)
        self._state = state
        self._from_hand = config.goals_from_hand and action_spec.kind == "absolute"

    def loss(self, draws: Sequence[ChunkBatch], generator: torch.Generator) -> Float[Tensor, ""]:
        for draw in draws:
            require_form(ObservationWindow.of(draw), self.config.observation)
            self.action_spec.require_same(draw.action_spec, here="the policy", there="the batch")
        images = self._images(draws[0].observations, generator if self.training else None)
        spotted = self._spotted(images, draws[0].observations)
        states = [
            self._state(self.normaliser, {**draw.observations, **spotted}, draw.object_position) for draw in draws
        ]
        parts = [torch.cat(states)] + ([] if images is None else [images.repeat(len(draws), 1, 1)])
        actions = torch.cat([draw.actions for draw in draws]).to(self.normaliser.scale)
        hand = torch.cat([draw.observations["eef_position"][:, -1] for draw in draws]).to(self.normaliser.scale)
        clean = self.normaliser.normalise("actions", self._moved(self._form.encode(actions), -hand))
        loss = self._process.loss(self._conditioned(parts), clean, generator)
        if self.spotter is not None and self.training:
            loss = loss + SPOTTING_WEIGHT * self.spotter.loss(spotted, draws[0].observations)
        return loss

    @torch.no_grad()
    def predict(self, seen: ObservationWindow, generator: Generators) -> Float[Tensor, "B H A"]:
        require_form(seen, self.config.observation)
        require_finite(seen, self.config.observation)
        scale = self.normaliser.scale
        seen = seen.to(scale.device)
        images = self._images(seen.observations, None)
        observations = {**seen.observations, **self._spotted(images, seen.observations)}
        parts = [self._state(self.normaliser, observations, seen.object_position)]
        parts += [] if images is None else [images]
        shape = (len(seen), self.prediction_horizon, self._form.size)
        noise = standard_normal(shape, generator, device=scale.device, dtype=scale.dtype)
        chunk = self._process.sample(self._conditioned(parts), noise, generator)
        said = self.normaliser.denormalise("actions", chunk)
        return self._form.decode(self._moved(said, seen.observations["eef_position"][:, -1].to(said)))

    def _moved(self, actions: Float[Tensor, "B H C"], way: Float[Tensor, "B 3"]) -> Float[Tensor, "B H C"]:
        """Between goals and ways from the hand to them, if the network says these."""
        if not self._from_hand:
            return actions
        return torch.cat([actions[..., :3] + way[:, None], actions[..., 3:]], dim=-1)

    def _images(self, observations: Mapping[str, Tensor], generator: torch.Generator | None) -> Tensor | None:
        """Features `[B, O, n]`, from random crops where there is a generator."""
        if self.encoder is None:
            return None
        return self.encoder({name: observations[f"image.{name}"] for name in self.cameras}, generator)

    def _spotted(self, images: Tensor | None, observations: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Where the images show what the policy is not told."""
        if self.spotter is None or images is None:
            return {}
        return self.spotter(images, self.normaliser, observations)

    def _conditioned(self, parts: Sequence[Float[Tensor, "B O _"]]) -> Denoise:
        condition = torch.cat(list(parts), dim=-1).flatten(1)
        return lambda noisy, time: self.denoiser(noisy, time, condition)
