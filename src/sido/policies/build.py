"""From a config to the policy that it describes."""

from __future__ import annotations

import dataclasses

from sido.demos.action_spec import ActionSpec
from sido.errors import SettingError
from sido.policies.action_form import ActionForm
from sido.policies.build_parts import build_denoiser, build_process
from sido.policies.config import DiffusionPolicyConfig, PolicyConfig
from sido.policies.diffusion_policy import DiffusionPolicy
from sido.policies.encoders import build_encoder
from sido.policies.equivariant import build_equivariant_policy
from sido.policies.normaliser import Normaliser
from sido.policies.policy import Policy
from sido.policies.spotter import Spotter
from sido.policies.state_features import StateFeatures
from sido.policies.statistics import Statistics

__all__ = ["build_policy"]


def build_policy(config: PolicyConfig, statistics: Statistics | None, action_spec: ActionSpec) -> Policy:
    """A policy with fresh weights, drawn from torch's global generator as layers do.

    Without statistics its normaliser is all NaN until a state dict is loaded.
    """
    if isinstance(config, DiffusionPolicyConfig):
        return _diffusion_policy(config, statistics, action_spec)
    return build_equivariant_policy(config, statistics, action_spec)


def _diffusion_policy(
    config: DiffusionPolicyConfig, statistics: Statistics | None, action_spec: ActionSpec
) -> DiffusionPolicy:
    observation = config.observation
    known = dataclasses.replace(observation, landmarks=(*observation.landmarks, *observation.spotted), spotted=())
    if config.goals_from_hand and action_spec.kind == "absolute" and action_spec.frame != "base":
        raise SettingError(
            "goals can be told from the hand where both are in the base frame",
            field="policy.goals_from_hand",
            found=f"{action_spec.kind} actions, {action_spec.frame} frame",
        )
    normaliser = Normaliser(known, action_spec, goals_from_hand=config.goals_from_hand)
    if statistics is not None:
        normaliser.fit(statistics)
    encoder = None if config.encoder is None else build_encoder(config.encoder, observation.cameras)
    state = StateFeatures(known)
    features = state.size + (0 if encoder is None else encoder.features)
    denoiser = build_denoiser(
        config.denoiser,
        horizon=config.prediction_horizon,
        action_size=ActionForm(action_spec).size,
        condition_size=observation.observation_steps * features,
    )
    return DiffusionPolicy(
        config,
        action_spec,
        normaliser=normaliser,
        state=state,
        encoder=encoder,
        spotter=Spotter(observation.spotted, encoder.features) if encoder and observation.spotted else None,
        denoiser=denoiser,
        process=build_process(config.process),
    )
