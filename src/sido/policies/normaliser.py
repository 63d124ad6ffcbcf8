"""Raw units to numbers around [-1, 1], and back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from sido.demos.action_spec import ActionSpec
from sido.errors import SettingError
from sido.policies.action_form import ActionForm
from sido.policies.config import ObservationConfig
from sido.policies.statistics import Range, Statistics

__all__ = ["Normaliser"]

_NARROWEST = 0.01
"""No number's half range is taken to be smaller, metres (or 1 % of a relative action's scale): what hardly moves in
the demonstrations would be blown up, and so would the noise of a pose estimate at deployment."""


class _Symmetry(NamedTuple):
    """Whether x and y are to have one scale, and about which point."""

    wanted: bool
    axis_m: Sequence[float] | None


@final
class Normaliser(nn.Module):
    """`scale * x + offset` for every number that a policy sees or says, by name.

    | name | how |
    |---|---|
    | "eef_position", "object_position", "landmark.*" | range to [-1, 1], *one* range for all of them |
    | "gripper" | range to [-1, 1] |
    | "eef_rot6d" | as it is |
    | "actions", as `ActionForm` has them | position: the positions' range if absolute (ways from the hand: their own), else its own; rotation as it is; the spec's gripper range to [-1, 1] |

    Positions share a range, so that the difference of two normalised positions is a way, whatever they are of.
    Nothing is clipped. The numbers are buffers, so that a state dict holds them.
    """  # noqa: E501 - a table's row is a line

    scale: Tensor
    offset: Tensor

    def __init__(
        self, observation: ObservationConfig, action_spec: ActionSpec, *, goals_from_hand: bool = False
    ) -> None:
        """All NaN until `fit` is called, or a state dict loaded.

        With `goals_from_hand` the positions of absolute actions are ways from the hand, and have a range of their own.
        """
        super().__init__()
        self._action_spec, self._goals_from_hand = action_spec, goals_from_hand
        sizes = {"eef_position": 3, "eef_rot6d": 6, "gripper": observation.gripper_joints}
        if observation.pose_channel != "none":
            sizes["object_position"] = 3
        sizes |= {f"landmark.{name}": 3 for name in observation.landmarks}
        sizes["actions"] = ActionForm(action_spec).size
        self._columns: dict[str, slice] = {}
        columns = 0
        for name, size in sizes.items():
            self._columns[name] = slice(columns, columns + size)
            columns += size
        self.register_buffer("scale", torch.full((columns,), math.nan))
        self.register_buffer("offset", torch.full((columns,), math.nan))

    @property
    def names(self) -> tuple[str, ...]:
        """What it can normalise."""
        return tuple(self._columns)

    def fit(
        self, statistics: Statistics, *, symmetric: bool = False, axis_m: Sequence[float] | None = None
    ) -> Normaliser:
        """Take the ranges of the data; returns itself.

        `symmetric` is for policies that turn with the scene: x and y have one scale, so that a turn about a vertical
        axis becomes a turn about the origin. `axis_m` says where the axis stands, x and y in the base frame; None:
        in the middle of all positions. Increments have no place, and turn about zero.
        """
        for name, columns in self._columns.items():
            low, high = self._range(name, statistics, _Symmetry(symmetric, axis_m))
            if len(low) != columns.stop - columns.start:
                raise SettingError(
                    "the data have another size than the policy expects",
                    field=name,
                    found=len(low),
                    expected=columns.stop - columns.start,
                )
            self.scale[columns] = (2 / (high - low)).to(self.scale)
            self.offset[columns] = (-(high + low) / (high - low)).to(self.offset)
        return self

    def normalise(self, name: str, x: Float[Tensor, "*batch n"]) -> Float[Tensor, "*batch n"]:
        columns = self._columns[name]
        return x * self.scale[columns] + self.offset[columns]

    def denormalise(self, name: str, x: Float[Tensor, "*batch n"]) -> Float[Tensor, "*batch n"]:
        columns = self._columns[name]
        return (x - self.offset[columns]) / self.scale[columns]

    def _range(self, name: str, statistics: Statistics, symmetry: _Symmetry) -> Range:
        if name == "actions":
            return self._action_range(statistics, symmetry)
        if name == "eef_rot6d":
            return _unit(6)
        if name == "gripper":
            return _usable(_of(statistics, name))
        return self._position_range(statistics, symmetry)

    def _position_range(self, statistics: Statistics, symmetry: _Symmetry) -> Range:
        """One range around all positions that are seen, and around the goals, where these are positions, too."""
        names = [name for name in self._columns if name.endswith("_position") or name.startswith("landmark.")]
        found = [_of(statistics, name) for name in names]
        if self._goals_are_positions:
            found.append(_goal_positions(statistics))
        low = torch.stack([low for low, _ in found]).amin(dim=0)
        high = torch.stack([high for _, high in found]).amax(dim=0)
        return _usable((low, high), symmetry)

    def _action_range(self, statistics: Statistics, symmetry: _Symmetry) -> Range:
        if self._goals_are_positions and not self._goals_from_hand:
            position = self._position_range(statistics, symmetry)
        else:
            ways = _of(statistics, "goal_ways") if self._goals_are_positions else _goal_positions(statistics)
            position = _usable(ways, symmetry._replace(axis_m=(0.0, 0.0)))
        rotation = _unit(ActionForm(self._action_spec).size - 4)
        lowest, highest = self._action_spec.gripper_range
        gripper = torch.tensor([lowest]), torch.tensor([highest])
        lows, highs = zip(position, rotation, gripper, strict=True)
        return torch.cat(lows), torch.cat(highs)

    @property
    def _goals_are_positions(self) -> bool:
        """Whether actions are in the frame in which positions are seen."""
        return self._action_spec.kind == "absolute" and self._action_spec.frame == "base"


def _of(statistics: Statistics, name: str) -> Range:
    if name not in statistics.ranges:
        raise SettingError(
            "the policy sees what the data do not have",
            field="Statistics.ranges",
            found=sorted(statistics.ranges),
            expected=repr(name),
            fix="name it where the data are read (ChunkSampler(landmarks=...)), or leave it out of the observation",
        )
    return statistics.ranges[name]


def _goal_positions(statistics: Statistics) -> Range:
    low, high = _of(statistics, "actions")
    return low[:3], high[:3]


def _unit(size: int) -> Range:
    """The range that is normalised to itself."""
    return -torch.ones(size), torch.ones(size)


def _usable(range_: Range, symmetry: _Symmetry | None = None) -> Range:
    """The range, neither empty nor nearly so; with x and y alike, and about the axis, where it is to be symmetric."""
    low, high = range_
    middle, half = (low + high) / 2, ((high - low) / 2).clamp(min=_NARROWEST)
    if symmetry is not None and symmetry.wanted:
        axis = middle[:2] if symmetry.axis_m is None else torch.tensor(symmetry.axis_m).to(middle)
        reach = torch.maximum((low[:2] - axis).abs(), (high[:2] - axis).abs()).amax().clamp(min=_NARROWEST)
        middle = torch.cat([axis, middle[2:]])
        half = torch.cat([reach.expand(2), half[2:]])
    return middle - half, middle + half
