"""What normalisation needs to know of the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from sido.demos.sampler import ChunkSampler
from sido.errors import SettingError

__all__ = ["Range", "Statistics"]

Range = tuple[Float[Tensor, " n"], Float[Tensor, " n"]]
"""The lowest and the highest value of each number."""


@dataclass(frozen=True, eq=False)
class Statistics:
    """The range of every number of the training data, *as counterfactuals will have them*.

    Samplers clip chunks to the range of the actions. A range fitted to static data would cut off the very displacement
    that the augmentation teaches, so the ranges of object position and actions are widened by the longest one, in x
    and in y.
    """

    ranges: Mapping[str, Range]
    """By name: "eef_position", "gripper", "object_position", "landmark.<name>", and "actions" in the dataset's form; of
    absolute actions also "goal_ways": from the hand, where a chunk is predicted, to its goals."""

    @classmethod
    def fit(
        cls, sampler: ChunkSampler, *, longest_displacement_m: float = 0.0, relative_gain: float = 1.0
    ) -> Statistics:
        """The ranges of a sampler's data.

        Args:
            sampler: The training data.
            longest_displacement_m: `Counterfactual.longest_m`. Give policies that are to be compared the same, the ones
                trained without counterfactuals, too: else they cannot reach as far.
            relative_gain: `Counterfactual.relative_gain`, for relative actions.
        """
        if not longest_displacement_m >= 0:
            raise SettingError("below zero", field="longest_displacement_m", found=longest_displacement_m)
        ranges = {name: (table.amin(dim=0), table.amax(dim=0)) for name, table in sampler.numbers.items()}
        spec = sampler.action_spec
        # A relative chunk may take up its displacement in a single step.
        units_per_m = 1.0 if spec.kind == "absolute" else 1.0 / (spec.position_scale_m * relative_gain)
        reaches = {"object_position": longest_displacement_m, "actions": longest_displacement_m * units_per_m}
        if (spec.kind, spec.frame) == ("absolute", "base"):
            ranges["goal_ways"] = _goal_ways(sampler)
            reaches["goal_ways"] = longest_displacement_m
        for name, reach in reaches.items():
            low, high = ranges[name]
            planar = torch.zeros_like(low)
            planar[:2] = reach
            ranges[name] = (low - planar, high + planar)
        return cls(ranges)


def _goal_ways(sampler: ChunkSampler) -> Range:
    lows: list[Tensor] = []
    highs: list[Tensor] = []
    for transitions in torch.arange(len(sampler)).split(4096):
        batch = sampler.batch(transitions, images=False)
        ways = batch.actions[..., :3] - batch.observations["eef_position"][:, -1:]
        lows.append(ways.flatten(0, 1).amin(dim=0))
        highs.append(ways.flatten(0, 1).amax(dim=0))
    return torch.stack(lows).amin(dim=0), torch.stack(highs).amax(dim=0)
