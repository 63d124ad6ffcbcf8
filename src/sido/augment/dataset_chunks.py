"""DynaSIDO for a whole dataset, from its demonstrations to a cache of chunks: what `sido augment --generator` does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple

from sido.augment.cache import DYNAMICS, ChunkCache, generate_cache, plan_cache
from sido.augment.dynamics import DynamicsErrors, DynamicsModel, FitSettings, RobotMotion, dynamics_errors, fit_dynamics
from sido.augment.dynamics.disk import load_dynamics
from sido.augment.generate import GenerationSettings
from sido.demos.dataset import DemoDataset
from sido.errors import DataError

__all__ = ["HeldOut", "Told", "chunks_of_dataset", "fit_held_out"]

_HELD_OUT = 10  # one demonstration of so many judges the model
_FITTED = 200  # demonstrations at most: more teach the robot's dynamics little, and memory stays bounded

Told = Callable[[str, int, int], None]
"""What is being done, how much of it is done, and of how much."""


class HeldOut(NamedTuple):
    """A dynamics model, and how well it foretells demonstrations that it was not fitted to."""

    model: DynamicsModel
    errors: DynamicsErrors


def chunks_of_dataset(
    dataset: DemoDataset,
    out: Path,
    settings: GenerationSettings,
    *,
    threads: int = 1,
    transitions: Literal["pre-grasp", "all"] = "pre-grasp",
    told: Told = lambda _what, _done, _total: None,
) -> tuple[ChunkCache, DynamicsErrors | None]:
    """Fit the robot's dynamics and refine every eligible chunk; killed, the same call goes on.

    Returns:
        The cache; and the model's errors, or None where it was begun before, with the dynamics that are there.
    """
    errors = None
    if (out / DYNAMICS).is_dir():
        model = load_dynamics(out / DYNAMICS)
    else:
        model, errors = fit_held_out(dataset, transitions, told)
    cache = plan_cache(dataset, out, model, settings, lambda done, total: told("looking for chunks", done, total))
    generate_cache(
        dataset,
        cache,
        model,
        settings,
        threads=threads,
        progress=lambda done, total: told("generating chunks", done, total),
    )
    return cache, errors


def fit_held_out(
    dataset: DemoDataset,
    transitions: Literal["pre-grasp", "all"] = "pre-grasp",
    told: Told = lambda _what, _done, _total: None,
) -> HeldOut:
    """The dynamics of a dataset, and how well they foretell the demonstrations that were held out.

    Raises:
        DataError: fewer than two demonstrations have a grasp that comes late enough.
    """
    settings = FitSettings(transitions=transitions)
    motions: list[RobotMotion] = []
    spec = None
    first = dataset[: _FITTED + _FITTED // (_HELD_OUT - 1)]
    for demo in first.each(lambda done, total: told("reading demonstrations", done, total)):
        spec = demo.action_spec
        if demo.grasp is not None and demo.grasp.index > settings.horizon:
            motions.append(RobotMotion.of(demo))
    if len(motions) < 2 or spec is None:
        raise DataError(
            "too few demonstrations to learn the robot's dynamics from",
            file=dataset.path,
            found=f"{len(motions)} with a grasp after {settings.horizon} steps or more",
            expected="2 or more",
            fix="see `sido inspect` for the grasp indices",
        )
    fitted = [motion for number, motion in enumerate(motions) if number % _HELD_OUT]
    model = fit_dynamics(fitted, spec, settings, lambda done, total: told("fitting the dynamics", done, total))
    return HeldOut(model, dynamics_errors(model, motions[::_HELD_OUT]))
