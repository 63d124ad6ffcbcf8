"""The augmentation whose chunks were generated beforehand."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, final

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from sido.augment.cache import ChunkCache, actions_digest
from sido.demos.action_spec import ActionSpec
from sido.demos.chunks import ChunkBatch
from sido.errors import DataError, SettingError

__all__ = ["CachedCounterfactual", "CachedDraws"]


@final
@dataclass(frozen=True)
class CachedCounterfactual:
    """Draws the counterfactuals of a cache, as `Counterfactual` makes them.

    augment = CachedCounterfactual.of("stack.cache").bound_to(names, sampler.numbers["actions"])
    batch = augment(batch, rng)

    It is settings only, so that a run's config can keep it; `bound_to` opens the cache.
    """

    kind: ClassVar[str] = "cached-counterfactual"

    path: str
    digest: str
    """Of all that the chunks depend on: a run that goes on finds the same, or an error."""
    step_speed_m: float
    prediction_horizon: int
    action_horizon: int
    reach_m: float
    """How far, in x or y, any command lies from the demonstrated one; metres. A normaliser must reach as far."""
    relative_gain: float = 1.0
    static_ratio: float = 0.2

    def __post_init__(self) -> None:
        if not 0 <= self.static_ratio <= 1:
            raise SettingError(
                "cannot be used",
                field="CachedCounterfactual.static_ratio",
                found=self.static_ratio,
                expected="0 to 1",
            )

    @classmethod
    def of(cls, path: str | Path, *, static_ratio: float = 0.2) -> CachedCounterfactual:
        """The cache in a folder.

        Raises:
            DataError: there is none, or it is not complete.
        """
        cache = _complete(Path(path))
        settings = cache.key["settings"]["counterfactual"]
        return cls(
            path=str(path),
            digest=cache.digest,
            step_speed_m=settings["step_speed_m"],
            prediction_horizon=settings["prediction_horizon"],
            action_horizon=settings["action_horizon"],
            reach_m=cache.reach_m,
            relative_gain=settings["relative_gain"],
            static_ratio=static_ratio,
        )

    @property
    def longest_m(self) -> float:
        """How much wider than the data a normaliser must reach, metres."""
        return self.reach_m

    def bound_to(self, names: Sequence[str], actions: Float[Tensor, "steps A"], spec: ActionSpec) -> CachedDraws:
        """The augmentation of batches that number demonstrations as `names` does.

        Args:
            names: Of the demonstrations.
            actions: All of theirs, one after another: the cache must be of the very same.
            spec: What they mean.

        Raises:
            DataError: the cache is gone, another one, or of other demonstrations.
        """
        cache = _complete(Path(self.path))
        if cache.digest != self.digest:
            raise DataError(
                "the cache is another one than the run began with",
                file=self.path,
                found=cache.digest,
                expected=self.digest,
                fix="generate it again with the settings of then",
            )
        cache.action_spec.require_same(spec, here=f"the cache {self.path}", there="the training data")
        known = {rows.name: rows for rows in cache.demos}
        chosen, start = [], 0
        for name in names:
            rows = known.get(name)
            if rows is None or actions_digest(actions[start : start + rows.length].cpu().numpy()) != rows.actions:
                raise DataError(
                    "the cache was not generated from this demonstration",
                    file=self.path,
                    demo=name,
                    found="another of that name" if rows else "none of that name",
                    fix="generate it from the dataset that is trained on (the same --actions, too)",
                )
            start += rows.length
            chosen.append(rows)
        table = torch.tensor([[rows.row, rows.first_step, rows.count] for rows in chosen])
        return CachedDraws(cache, table, self.static_ratio)


@final
class CachedDraws:
    """A cache at work: the contract of `Counterfactual`.

    A share `static_ratio` of the eligible samples, and all others, come back bit for bit; a displaced one gets one of
    its chunk's displacements, each as likely. It draws from `rng` what `Counterfactual` draws: of equal generators,
    the same samples stay static.
    """

    def __init__(self, cache: ChunkCache, rows: Tensor, static_ratio: float) -> None:
        self._displacement, self._positions = cache.displacement, cache.positions
        self._rows, self._static_ratio, self._spec = rows, static_ratio, cache.action_spec

    def __call__(self, batch: ChunkBatch, rng: torch.Generator) -> ChunkBatch:
        """A counterfactual batch; the given one is not written to."""
        chunk, place = batch.actions, batch.object_position
        horizon = self._positions.shape[2]
        if chunk.shape[1] != horizon:
            raise SettingError(
                "the batch's chunks are not as long as the cache's",
                field="prediction_horizon",
                found=chunk.shape[1],
                expected=horizon,
                fix="generate a cache for this horizon",
            )
        draws = torch.rand(3, len(batch), generator=rng, device=rng.device).cpu()
        moves = (draws[0] >= self._static_ratio) & batch.eligible.cpu()
        moved = moves.nonzero()[:, 0]
        first_row, first_step, count = self._rows[batch.demo_index.cpu()[moved]].unbind(1)
        ahead = batch.step.cpu()[moved] - first_step
        if bool(((ahead < 0) | (ahead >= count)).any()):
            raise DataError(
                "the batch calls a chunk eligible that the cache does not have",
                field="eligible",
                expected="the same grasps as when the cache was generated",
                fix="generate the cache again",
            )
        rows = (first_row + ahead).numpy()
        which = (draws[1][moved] * self._displacement.shape[1]).long().numpy()
        delta = torch.from_numpy(np.array(self._displacement[rows, which]))
        positions = torch.from_numpy(np.array(self._positions[rows, which]))
        bends = (delta != 0).any(dim=1)  # a chunk that stands still stays as it is
        moved, delta, positions = moved[bends].to(chunk.device), delta[bends], positions[bends]
        actions, object_position, displacement = chunk.clone(), place.clone(), batch.displacement.clone()
        actions[moved, :, :3] = positions.to(chunk)
        object_position[moved] += delta.to(place)[:, None]
        displacement[moved] += delta.to(displacement)
        return dataclasses.replace(batch, object_position=object_position, actions=actions, displacement=displacement)


def _complete(folder: Path) -> ChunkCache:
    cache = ChunkCache.open(folder)
    if not cache.complete:
        raise DataError(
            "the cache is not complete",
            file=folder,
            found=f"{int(cache.done.sum())} demonstrations",
            expected=len(cache.demos),
            fix="give the command that generated it again: it goes on where it was",
        )
    return cache
