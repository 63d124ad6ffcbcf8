"""Policies that need no training, in a module that other processes can import."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch

from sido.demos import ACTION_SPECS, ActionSpec
from sido.policies import ObservationWindow, standard_normal

STEP_M = 0.02
NEAR_M = 0.012


@dataclass
class Reacher:
    """Straight to where it is told that the object is, at most 2 cm a step, and closes when it is there.

    All that it computes is elementwise: a sample's chunk does not depend on the others, not even in its last bit.
    """

    action_spec: ActionSpec = ACTION_SPECS["rot6d-absolute"]
    prediction_horizon: int = 16
    observation_steps: int = 2
    cameras: tuple[str, ...] = ()
    noise_m: float = 0.0
    asked: list[ObservationWindow] = field(default_factory=list)
    """Every window that it was shown."""

    def predict(self, seen: ObservationWindow, generator) -> torch.Tensor:
        self.asked.append(seen)
        hand = seen.observations["eef_position"][:, -1]
        shape = (len(seen), self.prediction_horizon, 3)
        shake = self.noise_m * standard_normal(shape, generator)
        actions = torch.zeros(*shape[:2], self.action_spec.dim)
        for k in range(self.prediction_horizon):
            way = seen.object_position[:, -1] - hand
            length = (way[:, 0] ** 2 + way[:, 1] ** 2 + way[:, 2] ** 2).sqrt()[:, None]
            hand = hand + way * (STEP_M / length.clamp(min=STEP_M))
            actions[:, k, :3] = hand + shake[:, k]
            actions[:, k, 3:-1] = seen.observations["eef_rot6d"][:, -1] if self.action_spec.rotation == "rot6d" else 0.0
            actions[:, k, -1] = torch.where(length[:, 0] < NEAR_M, 1.0, -1.0)
        return actions


@dataclass
class Scripted(Reacher):
    """Says the same in every chunk: the given rows of `[x, y, z, gripper]`."""

    rows: tuple[tuple[float, float, float, float], ...] = ((0.5, 0.0, 0.1, -1.0),)

    def predict(self, seen: ObservationWindow, generator) -> torch.Tensor:
        self.asked.append(seen)
        said = torch.tensor([self.rows[min(k, len(self.rows) - 1)] for k in range(self.prediction_horizon)])
        actions = torch.zeros(len(seen), self.prediction_horizon, self.action_spec.dim)
        actions[:, :, :3], actions[:, :, -1] = said[:, :3], said[:, 3]
        return actions
