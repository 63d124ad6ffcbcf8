"""The augmentation: what would the hand have done, had the object been going there?"""

from __future__ import annotations

import dataclasses
import json
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, cast

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from sido.augment.displacement import LENGTHS, FixedLength, Length, planar_displacement
from sido.augment.morph import addend, path_shares, shift_waypoints, stretch_path
from sido.demos.action_spec import ActionSpec
from sido.demos.chunks import ChunkBatch
from sido.demos.json_document import parse_json
from sido.errors import DataError, SettingError

__all__ = ["Counterfactual"]


@dataclass(frozen=True)
class Counterfactual:
    """Displaces the object of a static transition and bends its chunk after it, so that the hand keeps its offset.

        augment = Counterfactual(step_speed_m=0.001)
        batch = augment(batch, rng)

    Of the eligible samples (the chunk reaches for the object and ends before the grasp), a share `static_ratio` is
    returned bit for bit, and the others have

        object_position + delta,   actions morphed by delta,   displacement = delta,

    with `delta` in the table plane, its direction uniform and its length `v T_p` (or as `length` says). Everything
    else in the batch, images above all, is the very same object: at deployment, too, the predicted position
    disagrees with the pixels.

    A relative chunk that stands still up to `T_a` (the appendix' epsilon rule) has no path to bend. It is returned as
    it is *with its object where it was*: moving the object alone would break the invariant that the pair is made for.
    So is a chunk with a number that is not finite.
    """

    kind: ClassVar[str] = "counterfactual"

    step_speed_m: float = 0.001
    """`v`: how far the object moves in one control step, metres; 1 mm at 20 Hz is 2 cm/s."""
    prediction_horizon: int = 16
    """`T_p`: how many actions a chunk has, and how many steps ahead the object's position is predicted."""
    action_horizon: int = 8
    """`T_a`: how many of them are executed before the policy re-plans."""
    static_ratio: float = 0.2
    """`alpha`: the share of eligible samples that stay as demonstrated, so that still objects are not forgotten."""
    length: Length = field(default_factory=FixedLength)
    """Every displacement as long as the longest, `v T_p`, or uniform up to it: `UniformLength()`."""
    relative_gain: float = 1.0
    """For relative actions: the realised over the commanded displacement (`estimate_gain`); 1 is the paper's."""

    def __post_init__(self) -> None:
        for entry in dataclasses.fields(self):
            if isinstance(value := getattr(self, entry.name), np.generic):
                object.__setattr__(self, entry.name, value.item())  # so that equal settings are saved alike
        for name, low, high in (("step_speed_m", 0.0, math.inf), ("static_ratio", 0.0, 1.0)):
            self._require(
                name, _is_number(value := getattr(self, name)) and low <= value <= high, f"{low:g} to {high:g}"
            )
        gain = self.relative_gain
        self._require("relative_gain", _is_number(gain) and gain > 0, "a finite number above 0")
        self._require("relative_gain", _is_number(1 / gain), "a number whose inverse is finite")
        horizon, action_horizon = self.prediction_horizon, self.action_horizon
        self._require("prediction_horizon", _is_whole(horizon) and horizon >= 2, "a whole number, at least 2")
        self._require(
            "action_horizon",
            _is_whole(action_horizon) and 2 <= action_horizon <= horizon,
            f"a whole number, 2 to prediction_horizon = {horizon}",
        )
        self._require(
            "step_speed_m", _is_number(self.longest_m), f"0 to inf, and finite times prediction_horizon = {horizon}"
        )
        self._require("length", type(self.length) in LENGTHS.values(), "FixedLength() or UniformLength()")

    @property
    def longest_m(self) -> float:
        """The longest displacement, `v T_p`, metres: how much wider than the data a normaliser must reach."""
        return self.step_speed_m * self.prediction_horizon

    def bound_to(self, names: Sequence[str], actions: Float[Tensor, "steps A"], spec: ActionSpec) -> Counterfactual:  # noqa: ARG002
        """The augmentation of batches of these demonstrations: of any, itself; that of a cache has to know."""
        return self

    def __call__(self, batch: ChunkBatch, rng: torch.Generator) -> ChunkBatch:
        """A counterfactual batch; the given one is not written to.

        Three float32 numbers are drawn for each sample, on the device of `rng`, whatever becomes of it. So equal
        states of `rng` give equal displacements whatever the batch's device, dtype, masks and actions are.
        """
        self._require_fit(batch, rng)
        chunk, place = batch.actions, batch.object_position
        dtype = torch.promote_types(torch.promote_types(place.dtype, chunk.dtype), torch.float32)
        draws = torch.rand(3, len(batch), generator=rng, device=rng.device).to(chunk.device, dtype)
        moves = (draws[0] >= self.static_ratio).logical_and_(batch.eligible)
        # A sum is finite where all numbers are, and takes an eighth of the time of asking each.
        moves = moves.logical_and_(chunk.flatten(1).sum(1, dtype=dtype).isfinite())
        delta = planar_displacement(draws[1], self.length.share(draws[2]) * self.longest_m)
        if batch.action_spec.kind == "absolute":
            delta = _only(moves, delta)
            morphed = shift_waypoints(chunk, delta, self.action_horizon)
        else:
            scale_m = batch.action_spec.position_scale_m
            path = path_shares(chunk, self.action_horizon, metres_per_unit=scale_m)
            delta = _only(moves.logical_and_(path.bends), delta)
            morphed = stretch_path(chunk, path.shares, delta / (scale_m * self.relative_gain))
        return dataclasses.replace(
            batch,
            object_position=(place + delta[:, None]).to(place.dtype),
            actions=morphed,
            displacement=(batch.displacement + delta).to(batch.displacement.dtype),
        )

    def _require_fit(self, batch: ChunkBatch, rng: object) -> None:
        if not isinstance(rng, torch.Generator):
            raise SettingError(
                "not a generator", field="rng", found=type(rng).__name__, expected="a torch.Generator, which is seeded"
            )
        if not batch.actions.is_floating_point():
            raise DataError("not floating point", field="actions", found=batch.actions.dtype, expected="a float tensor")
        if batch.actions.shape[1] != self.prediction_horizon:
            raise SettingError(
                "the batch's chunks are not as long as the prediction horizon",
                field="Counterfactual.prediction_horizon",
                found=self.prediction_horizon,
                expected=f"{batch.actions.shape[1]}, the length of the chunks",
                fix="give both the same horizon",
            )
        if batch.action_spec.frame == "tool":
            # A displacement in the table plane has other components in a tool that turns, step by step, and the
            # batch does not say how the tool will have turned.
            raise SettingError(
                "a displacement of the object cannot be added to actions in the tool's own frame",
                field="ActionSpec.frame",
                found="'tool'",
                expected="'base' or 'world'",
                fix="convert the dataset to absolute actions",
            )

    def _require(self, name: str, holds: bool, expected: str) -> None:
        if not holds:
            found = repr(getattr(self, name))
            raise SettingError("cannot be used", field=f"Counterfactual.{name}", found=found, expected=expected)

    def to_json(self) -> str:
        length = next(name for name, kind in LENGTHS.items() if type(self.length) is kind)
        return json.dumps({**dataclasses.asdict(self), "length": length})

    @classmethod
    def from_json(cls, text: str) -> Counterfactual:
        """Read what `to_json` wrote."""
        fields: Any = parse_json(text, place="Counterfactual").value
        names = {entry.name for entry in dataclasses.fields(cls)}
        if not isinstance(fields, dict) or set(cast(dict[str, Any], fields)) != names:
            raise DataError(
                "not the augmentation's settings",
                field="Counterfactual",
                found=cast(object, fields),
                expected=f"an object of {', '.join(sorted(names))}",
            )
        settings = cast(dict[str, Any], fields)
        length: Any = settings.pop("length")
        if not isinstance(length, str) or length not in LENGTHS:
            raise DataError("unknown name", field="Counterfactual.length", found=repr(length), expected=sorted(LENGTHS))
        return cls(**settings, length=LENGTHS[length]())


def _only(moves: Bool[Tensor, " B"], delta: Float[Tensor, "B 3"]) -> Float[Tensor, "B 3"]:
    """`delta` where a sample moves, as an addend that leaves the others as they are."""
    return addend(torch.where(moves[:, None], delta, 0.0))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and _is_number(value)
