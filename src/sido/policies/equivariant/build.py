"""From a config to the equivariant policy that it describes."""

from __future__ import annotations

from sido.demos.action_spec import ActionSpec
from sido.errors import SettingError
from sido.policies.action_form import ActionForm
from sido.policies.build_parts import build_denoiser, build_process
from sido.policies.config import EquivariantPolicyConfig
from sido.policies.equivariant.action_field import ActionField
from sido.policies.equivariant.observer import Observer
from sido.policies.equivariant.policy import EquivariantPolicy
from sido.policies.equivariant.representation import POSITION, ROT6D, Representation, scalars
from sido.policies.equivariant.state import EquivariantState
from sido.policies.normaliser import Normaliser
from sido.policies.statistics import Statistics

__all__ = ["build_equivariant_policy"]


def build_equivariant_policy(
    config: EquivariantPolicyConfig, statistics: Statistics | None, action_spec: ActionSpec
) -> EquivariantPolicy:
    """As `build_policy`.

    Raises:
        SettingError: the actions are goals in a frame that does not turn about the same axis as what is seen.
    """
    actions = _representation(action_spec)
    normaliser = Normaliser(config.observation, action_spec, goals_from_hand=config.goals_from_hand)
    if statistics is not None:
        normaliser.fit(statistics, symmetric=True, axis_m=config.axis_m)
    denoiser = build_denoiser(
        config.denoiser,
        horizon=config.prediction_horizon,
        action_size=config.action_fields,
        condition_size=config.observation.observation_steps * config.fields,
    )
    return EquivariantPolicy(
        config,
        action_spec,
        normaliser=normaliser,
        observer=Observer(config, EquivariantState(config.observation).representation),
        field=ActionField(actions, config.action_fields, denoiser),
        actions=actions,
        process=build_process(config.process),
    )


def _representation(spec: ActionSpec) -> Representation:
    """How actions turn, in the form in which the network sees them."""
    form = ActionForm(spec)
    if spec.kind == "relative" and spec.frame == "tool":
        return scalars(form.size)  # a way of the hand's own, whichever way the scene is turned
    if spec.kind == "absolute" and spec.frame != "base":
        raise SettingError(
            "goals and observed positions must be in one frame, to turn about one axis",
            field="ActionSpec.frame",
            found=repr(spec.frame),
            expected="'base', for absolute actions",
            fix="convert the dataset's actions to the base frame, or train a Diffusion Policy",
        )
    turns = {"rot6d": (ROT6D,), "axis_angle": (POSITION,), "none": ()}[form.rotation]
    return Representation.beside((POSITION, *turns, scalars(1)))
