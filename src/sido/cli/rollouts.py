"""Rollouts during training: what `sido train --rollouts` plays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sido.errors import MissingExtraError, SettingError

if TYPE_CHECKING:
    import torch

    from sido.policies import Policy
    from sido.train import Rollouts

__all__ = ["rollouts_of"]

_FIRST_SEED = 2_000_000  # neither those of demonstrations, from 0, nor those of evaluations, from 1,000,000


def rollouts_of(task: str, episodes: int, every: int, device: torch.device) -> Rollouts | None:
    """Episodes with a still object, always the same; None for none of them.

    Raises:
        MissingExtraError: this machine has no simulator.
    """
    if episodes == 0:
        return None
    if episodes < 0:
        raise SettingError("too few", field="--rollouts", found=episodes, expected="0 or more")
    try:
        from sido.evaluate import Player, Portion, Setting
        from sido.sim.tasks import task_named
    except ModuleNotFoundError as error:
        raise MissingExtraError("sido train --rollouts", str(error.name), "sim") from error
    from sido.train import Rollouts

    task_named(task)  # an unknown one is told now, and not after an hour
    seeds = tuple(range(_FIRST_SEED, _FIRST_SEED + episodes))

    def play(policy: Policy) -> Mapping[str, float]:
        told = "none" if policy.config.observation.pose_channel == "none" else "hold"
        player = Player(policy, envs=min(16, episodes), device=str(device))
        played = player(Portion(Setting(task, predictor=told), seeds))
        return {"success": sum(rollout.success for rollout in played) / episodes}

    return Rollouts(play, every)
