"""The paper's generator-level test: displaced chunks executed in the simulator, from moments of static demonstrations.

Chunks are drawn from demonstrations that the dynamics model was not fitted to. For each, the object is teleported by
`delta`, and the chunk of each generator is executed from the same snapshot. What is measured is where the hand *really*
is, at `T_a` and at `T_p`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, final

import numpy as np
import torch
from jaxtyping import Float

from sido.arrays import Array
from sido.augment import (
    Counterfactual,
    DynamicsErrors,
    DynamicsModel,
    FitSettings,
    GaussNewton,
    GenerationSettings,
    Heuristic,
    Mppi,
    RobotMotion,
    dynamics_errors,
    estimate_gain,
    fit_dynamics,
)
from sido.augment.generate import AnyRefiner, reaching
from sido.demos import ACTION_SPECS, Demo, DemoDataset, to_absolute, to_relative
from sido.errors import DataError, SettingError
from sido.experiments.chunk_execution import ChunkExecutor, ExecutedChunks, Snapshots
from sido.geometry import sparc
from sido.sim.tasks import Task

__all__ = ["ChunkStudy", "ChunkStudyRow", "ChunkStudySettings", "as_kind", "study_chunks"]

STATIC = "static demo"


@final
@dataclass(frozen=True)
class ChunkStudySettings:
    """What is studied."""

    chunks: int = 200
    speeds_mps: tuple[float, ...] = (0.02, 0.04, 0.06, 0.08, 0.10, 0.20)
    prediction_horizon: int = 16
    action_horizon: int = 8
    held_out_every: int = 5
    """One demonstration of so many gives chunks; the others teach the dynamics."""
    fit: FitSettings = field(default_factory=FitSettings)
    anchored: bool = True
    """As in `GenerationSettings`."""
    threads: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        if self.chunks < 2 or self.held_out_every < 2 or not self.speeds_mps or min(self.speeds_mps) <= 0:
            raise SettingError(
                "nothing to study",
                field="ChunkStudySettings",
                found=self,
                expected="2 chunks or more, speeds above 0, one demonstration of 2 or more held out",
            )


@final
@dataclass(frozen=True)
class ChunkStudyRow:
    """What came of the chunks of one generator at one speed."""

    actions: str
    speed_mps: float
    generator: str
    chunks: int
    distance_m: tuple[float, float]
    """Mean realised `||r_t(T_a)||` and `||r_t(T_p)||`."""
    miss_m: tuple[float, float]
    """Median realised distance of the hand from where it should be: where it was in the static demo, plus delta."""
    sparc_mean: float
    sparc_sd: float
    touched: int
    """Chunks whose object moved by more than a millimetre: the hand, or what it was teleported into, pushed it."""


@final
@dataclass(frozen=True)
class ChunkStudy:
    """All of it."""

    rows: tuple[ChunkStudyRow, ...]
    dynamics: DynamicsErrors
    """On the demonstrations held out."""


class _Chunks(NamedTuple):
    """The chunks that are displaced."""

    motions: list[RobotMotion]
    where: list[tuple[int, int]]
    """Which motion, and which step."""
    snapshots: Snapshots
    actions: Float[Array, "N H A"]
    headings: Float[Array, "N"]
    """Of the displacements, radians: the same at every speed."""


def study_chunks(
    dataset: DemoDataset,
    task: Task,
    settings: ChunkStudySettings = ChunkStudySettings(),
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> ChunkStudy:
    """Fit the dynamics, displace, refine, execute.

    Args:
        dataset: Static demonstrations of the task with the simulator's states, their actions as they are to be morphed.
        task: The one that they are of.
        settings: What to study.
        progress: Called with how many of the runs are done.

    Raises:
        DataError: no eligible chunks; no states recorded.
    """
    demos = [demo for demo in dataset if demo.grasp is not None]
    held_out = demos[:: settings.held_out_every]
    fitted = [demo for number, demo in enumerate(demos) if number % settings.held_out_every]
    if not held_out or not fitted:
        raise DataError(
            "too few demonstrations with a grasp", file=dataset.path, found=len(demos), expected="2 or more"
        )
    spec = demos[0].action_spec
    model = fit_dynamics([RobotMotion.of(demo) for demo in fitted], spec, settings.fit)
    chunks = _chosen(held_out, task, settings)
    generators = _generators(fitted, settings)
    executor = ChunkExecutor(task, spec, threads=settings.threads)
    try:
        static = executor(chunks.snapshots, chunks.actions).eef_position
        rows: list[ChunkStudyRow] = []
        total = len(settings.speeds_mps) * (1 + len(generators))
        for speed in settings.speeds_mps:
            delta = _displacements(chunks.headings, speed, settings, spec.rate_hz)
            teleported = chunks.snapshots.teleported(task, delta)
            for name, gain, refiner in [(STATIC, 1.0, None), *generators]:
                actions, start, moved = chunks.actions, teleported, delta
                if refiner is None:
                    start, moved = chunks.snapshots, np.zeros_like(delta)
                else:
                    actions = _morphed(chunks, delta, model, settings, gain, refiner)
                told = executor(start, actions)
                measured = _measured(told, static, moved, settings, spec.rate_hz)
                rows.append(ChunkStudyRow(spec.kind, speed, name, **measured))
                progress(len(rows), total)
    finally:
        executor.close()
    errors = dynamics_errors(model, [RobotMotion.of(demo) for demo in held_out], horizon=settings.prediction_horizon)
    return ChunkStudy(tuple(rows), errors)


def as_kind(dataset: DemoDataset, kind: Literal["absolute", "relative"]) -> DemoDataset:
    """The same demonstrations, told in absolute goals or in relative increments."""
    if kind == "absolute":
        return dataset.map(to_absolute)
    if dataset.info.action_spec.kind == "relative":
        return dataset
    like = ACTION_SPECS["osc-delta"]
    if dataset.info.action_spec.rate_hz != like.rate_hz:
        raise SettingError("no relative actions at this rate", found=dataset.info.action_spec.rate_hz, expected=20.0)
    return dataset.map(lambda demo: to_relative(demo, like))


def _generators(fitted: list[Demo], settings: ChunkStudySettings) -> list[tuple[str, float, AnyRefiner]]:
    """Their names, the gain of their seeds, and what refines these."""
    generators: list[tuple[str, float, AnyRefiner]] = [
        ("H-SIDO", 1.0, Heuristic()),
        ("DynaSIDO, MPPI", 1.0, Mppi()),
        ("DynaSIDO, Gauss-Newton", 1.0, GaussNewton()),
    ]
    if fitted[0].action_spec.kind == "relative":
        gain = estimate_gain(
            fitted, prediction_horizon=settings.prediction_horizon, action_horizon=settings.action_horizon
        ).at_prediction_horizon.gain
        generators.insert(1, ("H-SIDO, calibrated gain", gain, Heuristic()))
    return generators


def _chosen(held_out: list[Demo], task: Task, settings: ChunkStudySettings) -> _Chunks:
    rng = np.random.default_rng(settings.seed)
    horizon = settings.prediction_horizon
    eligible = [
        (number, int(step))
        for number, demo in enumerate(held_out)
        for step in np.flatnonzero(demo.eligible_steps(horizon))
    ]
    if not eligible:
        raise DataError(
            "no chunk ends before a grasp, so that none can be displaced",
            field="grasp",
            fix="see `sido inspect` for the grasp indices, or choose a shorter prediction horizon",
        )
    chosen = sorted(eligible[index] for index in rng.permutation(len(eligible))[: settings.chunks])
    return _Chunks(
        motions=[RobotMotion.of(demo) for demo in held_out],
        where=chosen,
        snapshots=Snapshots.joined([Snapshots.of(held_out[number], [step], task) for number, step in chosen]),
        actions=np.stack([held_out[number].actions[step : step + horizon] for number, step in chosen]),
        headings=rng.uniform(0.0, 2.0 * np.pi, len(chosen)),
    )


def _displacements(
    headings: Float[Array, "N"], speed_mps: float, settings: ChunkStudySettings, rate_hz: float
) -> Float[Array, "N 3"]:
    distance_m = speed_mps * settings.prediction_horizon / rate_hz
    return distance_m * np.stack([np.cos(headings), np.sin(headings), np.zeros_like(headings)], axis=1)


def _morphed(
    chunks: _Chunks,
    delta: Float[Array, "N 3"],
    model: DynamicsModel,
    settings: ChunkStudySettings,
    gain: float,
    refiner: AnyRefiner,
) -> Float[Array, "N H A"]:
    counterfactual = Counterfactual(
        prediction_horizon=settings.prediction_horizon, action_horizon=settings.action_horizon, relative_gain=gain
    )
    generation = GenerationSettings(counterfactual, refiner, anchored=settings.anchored)
    actions = chunks.actions.copy()
    rng = torch.Generator().manual_seed(settings.seed)
    for number, motion in enumerate(chunks.motions):
        rows = np.array([row for row, (whose, _) in enumerate(chunks.where) if whose == number], dtype=np.int64)
        if len(rows) == 0:
            continue
        steps = np.array([chunks.where[row][1] for row in rows])
        task = reaching(motion, steps, torch.from_numpy(delta[rows]).float(), model, generation)
        positions = refiner(model, task, rng).positions.permute(2, 0, 1).double().numpy()
        actions[rows, :, :3] = positions
    return actions


def _measured(
    told: ExecutedChunks,
    static: Float[Array, "N K 3"],
    delta: Float[Array, "N 3"],
    settings: ChunkStudySettings,
    rate_hz: float,
) -> dict[str, Any]:
    """The numbers of a `ChunkStudyRow`."""
    horizons = [settings.action_horizon, settings.prediction_horizon]
    hand, thing = told.eef_position, told.object_position
    distance = np.linalg.norm(told.hand_object_offset[:, horizons], axis=2).mean(axis=0)
    miss = np.median(np.linalg.norm((hand - static - delta[:, None])[:, horizons], axis=2), axis=0)
    smoothness = sparc(np.linalg.norm(np.diff(hand, axis=1), axis=2) * rate_hz, rate_hz)
    return {
        "chunks": len(hand),
        "distance_m": tuple(distance.tolist()),
        "miss_m": tuple(miss.tolist()),
        "sparc_mean": float(smoothness.mean()),
        "sparc_sd": float(smoothness.std()),
        "touched": int((np.linalg.norm(thing[:, -1] - thing[:, 0], axis=1) > 1e-3).sum()),
    }
