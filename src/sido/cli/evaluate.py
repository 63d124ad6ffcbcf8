"""`sido evaluate`: how often policies succeed, and why not."""

from __future__ import annotations

import itertools
import json as json_format
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sido.cli.progress import progress_bar
from sido.errors import MissingExtraError, SettingError
from sido.jobs import Crew, Here, Processes, RayCluster

if TYPE_CHECKING:
    from sido.evaluate import Cell, Estimator, Setting, Standing, Summary

__all__ = ["FIRST_SEED", "crew_of", "evaluate"]

FIRST_SEED = 1_000_000
"""Demonstrations are collected with seeds from 0 on: the policy must not meet the placements that it learnt from."""

_USUAL_SPEED_MPS = 0.02


@dataclass(frozen=True)
class EstimatorOptions:
    """How the object's pose is estimated; perfectly, if nothing is given."""

    pose_noise: float = 0.0
    """Standard deviation in metres, along each axis."""
    pose_bias: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Added to every estimate: x, y, z in metres, base frame."""
    pose_latency: float = 0.0
    """Seconds from a look to when it is known."""
    pose_dropout: float = 0.0
    """Share of the looks that are lost."""
    pose_rate: float = 20.0
    """Looks per second."""

    def estimator(self) -> Estimator:
        from sido.evaluate import Estimator

        return Estimator(
            rate_hz=self.pose_rate,
            latency_s=self.pose_latency,
            dropout=self.pose_dropout,
            noise_m=(self.pose_noise,) * 3,
            bias_m=self.pose_bias,
        )


def evaluate(
    runs: Annotated[tuple[Path, ...], tyro.conf.Positional],
    /,
    *,
    task: str = "stack",
    motion: tuple[str, ...] = ("still",),
    speed: tuple[float, ...] = (),
    rollouts: Annotated[int, tyro.conf.arg(aliases=["-n"])] = 100,
    predictor: tuple[str, ...] = (),
    correction: tuple[str, ...] = ("none",),
    horizon: tuple[str, ...] = ("chunk",),
    action_horizon: int = 8,
    reaching_action_horizon: int | None = None,
    latency: float = 0.0,
    obstacle: str = "reverse",
    estimator: Annotated[EstimatorOptions, tyro.conf.OmitArgPrefixes] = EstimatorOptions(),
    checkpoint: Literal["last", "best"] = "last",
    seed: int = FIRST_SEED,
    envs: int = 16,
    workers: int = 1,
    ray: str | None = None,
    device: str = "cpu",
    json: bool = False,
) -> int:
    """Play policies in simulation and print how often each succeeds, with Wilson's 95 % interval, and why it failed.

    Rollouts are logged in RUN/rollouts, step by step, as parquet. What is there already is not played again: stopped
    (Ctrl-C, or killed), the same command goes on. Cells of one command have the same episodes: placements, motions and
    all noise but the policy's follow from the seeds SEED, SEED + 1, ... alone, whatever the workers.

    Several motions, speeds, predictors, corrections or horizons make a cell of each combination.

    Args:
        runs: Folders of sido train.
        task: stack, square, mug, gantry or peachtree.
        motion: How the object moves: still, x, y, circle, random, variable-speed, gantry, peachtree, accelerating,
            stop-and-go.
        speed: In m/s; by default 0.02. A still object has none.
        rollouts: Episodes of each cell.
        predictor: hold (where the object is), finite-difference (the paper's, told the speed),
            finite-difference-measured, kalman, interacting-models, last-turn, or a folder of `sido predictor fit`;
            each also with +walls, which knows the region's edges; true-future (an oracle); none. By default what the
            policy's pose channel was made for.
        correction: none; ac, the paper's action compensation; feed-forward, the object's velocity added to commands.
        horizon: chunk, to the end of the chunk (the paper's); contact, or to the grasp if that comes sooner.
        action_horizon: T_a, how many actions of a chunk are executed.
        reaching_action_horizon: T_a while the object is still to be reached.
        latency: Seconds from an observation to its action, for which the predictor is to make up.
        obstacle: What the object does where another stands in its way: reverse, pass-beside, outside.
        estimator: How its pose is estimated.
        checkpoint: last or best.
        seed: Of the first episode. Demonstrations have seeds from 0 on.
        envs: Episodes at once in each process.
        workers: Processes of this machine.
        ray: The address of a Ray cluster that plays instead: auto, head:6379, ray://head:10001.
        device: Where the policy computes.
        json: Print the table as JSON.
    """
    if not runs:
        raise SettingError("nothing to evaluate", field="RUNS", expected="folders of sido train")
    if rollouts < 1:
        raise SettingError("too few", field="--rollouts", found=rollouts, expected="1 or more")
    try:
        from sido.evaluate import RunPolicy, Setting, measure, summarise, usual_predictor
    except ModuleNotFoundError as error:
        raise MissingExtraError("sido evaluate", str(error.name), "sim") from error
    worlds = _worlds(motion, speed)
    lines: list[Line] = []
    for run in runs:
        source = RunPolicy(run, checkpoint)
        predictors = predictor or (usual_predictor(source()),)
        settings = [
            Setting(
                task=task,
                motion=how,
                speed_mps=speed_mps,
                obstacle=obstacle,
                predictor=each,
                correction=corrected,
                horizon=ahead,
                action_horizon=action_horizon,
                reaching_action_horizon=reaching_action_horizon,
                latency_s=latency,
                estimator=estimator.estimator(),
            )
            for (how, speed_mps), each, corrected, ahead in itertools.product(worlds, predictors, correction, horizon)
        ]
        seeds = range(seed, seed + rollouts)
        cells = _roll_out(run, source, settings, seeds, crew_of(workers, ray), envs, device)
        if cells is None:
            return 130
        lines += [
            Line(run, cell.setting, summarise([measure(rollout) for rollout in cell.rollouts(seeds)])) for cell in cells
        ]
    if json:
        print(json_format.dumps([line.to_dict() for line in lines], indent=2))
    else:
        _print(lines)
    return 0


@dataclass(frozen=True)
class Line:
    """Of the table."""

    run: Path
    setting: Setting
    summary: Summary

    def to_dict(self) -> dict[str, Any]:
        summary = self.summary
        without, turning = summary.without_turns, summary.with_turns
        return {
            "run": str(self.run),
            "setting": json_format.loads(self.setting.to_json()),
            "successes": summary.success.successes,
            "rollouts": summary.success.attempts,
            "wilson_95": summary.success.interval(),
            "without_turns": without and [without.successes, without.attempts],
            "with_turns": turning and [turning.successes, turning.attempts],
            "lifted": summary.lifted.successes,
            "lost_grasps": summary.lost_grasps,
            "failures": {cause.value: count for cause, count in summary.failures.items()},
            "means": {
                name: value if value == value else None
                for name in (
                    "time_to_success_s", "lead_at_closing_m", "fde_m", "hand_object_ta_m", "hand_object_tp_m", "sparc"
                )
                for value in (getattr(summary, name),)
            },
        }  # fmt: skip


def _worlds(motions: tuple[str, ...], speeds: tuple[float, ...]) -> list[tuple[str, float]]:
    """Each motion at each speed; a still object once."""
    from sido.motion import motion_named

    if speeds and set(motions) == {"still"}:
        motion_named("still", max(speeds))  # refused, and why
    speeds = speeds or (_USUAL_SPEED_MPS,)
    worlds = [(motion, 0.0 if motion == "still" else speed) for motion in motions for speed in speeds]
    return list(dict.fromkeys(worlds))


def crew_of(workers: int, ray: str | None) -> Crew:
    """Who plays."""
    if ray is None:
        return Here() if workers == 1 else Processes(workers)
    if workers != 1:
        raise SettingError("a cluster has workers of its own", field="--workers, --ray", fix="leave one of them out")
    return RayCluster(ray)


def _roll_out(
    run: Path, source: Any, settings: list[Setting], seeds: range, crew: Crew, envs: int, device: str
) -> list[Cell] | None:
    """The cells; None where Ctrl-C came first."""
    from sido.evaluate import roll_out

    latest = "nothing was played yet"
    try:
        with progress_bar(f"evaluating {run.name}") as bar:

            def progress(standing: Standing) -> None:
                nonlocal latest
                latest = f"{standing.done} of {standing.wanted} rollouts; the same command goes on from there"
                share = f", {standing.successes / standing.played:.0%} succeed" if standing.played else ""
                bar(standing.done, standing.wanted, f"{standing.what}{share}")

            return roll_out(
                run / "rollouts", source, settings, seeds, crew, envs=envs, device=device, progress=progress
            )
    except KeyboardInterrupt:
        Console(stderr=True, soft_wrap=True).print(f"stopped: {latest}")
        return None


def _print(lines: list[Line]) -> None:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for name in ("policy", "world", "told", "success (95 %)", "no turns", "turns", "lead", "FDE", "failures"):
        table.add_column(name, justify="right" if name in ("no turns", "turns", "lead", "FDE") else "left")
    for line in lines:
        summary = line.summary
        failures = ", ".join(f"{count} {cause}" for cause, count in summary.failures.items())
        table.add_row(
            escape(line.run.name),
            line.setting.world,
            line.setting.deployment,
            f"{summary.success.successes}/{summary.success.attempts} = {summary.success}",
            _fraction(summary.without_turns),
            _fraction(summary.with_turns),
            _centimetres(summary.lead_at_closing_m),
            _centimetres(summary.fde_m),
            failures or "none",
        )
    Console(soft_wrap=True, width=200).print(table)


def _fraction(proportion: Any) -> str:
    return "-" if proportion is None else f"{proportion.successes}/{proportion.attempts}"


def _centimetres(metres: float) -> str:
    return "-" if metres != metres else f"{100 * metres:.1f} cm"
