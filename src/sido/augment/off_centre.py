"""Objects held off their middle: what static demonstrations of a steady hand never show, and moving objects bring."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import ClassVar

import torch

from sido.demos.chunks import ChunkBatch
from sido.errors import SettingError

__all__ = ["OffCentre"]


@dataclass(frozen=True)
class OffCentre:
    """Displaces the *hand* of a transition in which it holds the object, and its goals with it.

        eef_position + e,   absolute goals + e,   the object, and where it goes, as they were

    with `e` normal. So the object is carried and put down where it was demonstrated to, by a hand that has grasped it
    elsewhere: what was demonstrated of the object is kept, as a counterfactual of `Counterfactual` keeps what was
    demonstrated of the hand beside the object. Who grasps a moving object holds it off its middle. A policy that knows
    steady grasps only lifts it then, and hovers over the goal: the hand is where it belongs, and the object is not.

    Samples in which the hand holds nothing stay bit for bit as they are; increments of relative actions need no
    change. Images are not touched, so that they show the object where the fingers had it.
    """

    kind: ClassVar[str] = "off_centre"

    planar_m: float = 0.008
    """Standard deviation of `e` along x and along y."""
    height_m: float = 0.004
    """The same along the vertical."""
    share: float = 0.5
    """Of the samples in which the object is held, how many are displaced."""

    def __post_init__(self) -> None:
        for name, high in (("planar_m", math.inf), ("height_m", math.inf), ("share", 1.0)):
            value = getattr(self, name)
            if not (math.isfinite(value) and 0.0 <= value <= high):
                raise SettingError(
                    "cannot be used", field=f"OffCentre.{name}", found=value, expected=f"0 to {high:g}, and finite"
                )

    def __call__(self, batch: ChunkBatch, rng: torch.Generator) -> ChunkBatch:
        """Another batch; the given one is not written to. Four numbers are drawn for each sample, whatever it is."""
        frame = batch.action_spec.frame
        if batch.action_spec.kind == "absolute" and frame != "base":
            raise SettingError(
                "goals move with the hand where both are in the base frame",
                field="action_spec.frame",
                found=repr(frame),
                expected="'base'",
            )
        chunk, hand = batch.actions, batch.observations["eef_position"]
        lottery = torch.rand(len(batch), generator=rng, device=rng.device).to(chunk.device)
        normal = torch.randn(len(batch), 3, generator=rng, device=rng.device).to(hand)
        moves = (lottery < self.share).logical_and_(batch.held)
        e = normal * normal.new_tensor([self.planar_m, self.planar_m, self.height_m]) * moves[:, None]
        observations = {**batch.observations, "eef_position": hand + e[:, None]}
        actions = chunk
        if batch.action_spec.kind == "absolute":
            actions = torch.cat([chunk[..., :3] + e[:, None].to(chunk), chunk[..., 3:]], dim=-1)
        return dataclasses.replace(batch, observations=observations, actions=actions)
