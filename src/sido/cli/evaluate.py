"""`sido evaluate`: how often policies succeed, and why not."""

from __future__ import annotations

import json as json_format
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sido.cli.progress import progress_bar
from sido.cli.setting_options import SettingOptions
from sido.errors import MissingExtraError, SettingError
from sido.jobs import Crew, Here, Processes, RayCluster

if TYPE_CHECKING:
    from sido.evaluate import Cell, Setting, Standing, Summary

__all__ = ["FIRST_SEED", "crew_of", "evaluate"]

FIRST_SEED = 1_000_000
"""Demonstrations are collected with seeds from 0 on: the policy must not meet the placements that it learnt from."""


def evaluate(
    runs: Annotated[tuple[Path, ...], tyro.conf.Positional],
    /,
    *,
    played: Annotated[SettingOptions, tyro.conf.OmitArgPrefixes] = SettingOptions(),
    rollouts: Annotated[int, tyro.conf.arg(aliases=["-n"])] = 100,
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
        played: What is played.
        rollouts: Episodes of each cell.
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
        from sido.evaluate import RunPolicy, measure, summarise, usual_predictor
    except ModuleNotFoundError as error:
        raise MissingExtraError("sido evaluate", str(error.name), "sim") from error
    played.worlds()  # what cannot be is refused before a policy is read
    lines: list[Line] = []
    seeds = range(seed, seed + rollouts)
    for run in runs:
        source = RunPolicy(run, checkpoint)
        settings = played.settings(usual_predictor(source()))
        remark_on_environment(run, played.task)
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


def remark_on_environment(run: Path, task: str) -> None:
    """Say so where a policy was trained on another environment's demonstrations, or on those of who knows which."""
    from sido.demos import open_dataset
    from sido.errors import SidoError
    from sido.sim.collect.annotation import annotation_of
    from sido.sim.tasks import shared_task
    from sido.train import TrainConfig

    expected = annotation_of(shared_task(task)).environment
    config = run / "config.json"
    if not config.is_file():
        return
    data = TrainConfig.from_json(config.read_bytes(), place=str(config)).data.path
    try:
        with open_dataset(data) as dataset:
            environment = dataset.info.environment
        known = "" if environment is None else environment.name
    except (SidoError, OSError):
        known = ""
    if known.split("_")[0] == expected.split("_")[0]:
        return
    told = f"of {known}" if known else f"of an environment that is not known (by {data})"
    Console(stderr=True, soft_wrap=True).print(
        f"[yellow]remark:[/] {escape(run.name)} learnt from demonstrations {escape(told)}; it is played in {task}, "
        f"which is {expected}"
    )


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


_LEGEND = (
    "success: of all episodes, with Wilson's 95 % interval. no turn, turn: of those whose object's plan does not, does "
    "turn within 3 s. lead: how far the hand is ahead of the object when the gripper closes. FDE: error of what the "
    "policy was told of the object's position, at the time that it speaks of. Both in cm, means."
)


def _print(lines: list[Line]) -> None:
    """For terminals of 80 columns: a table for each policy, and why episodes failed below it."""
    console = Console()
    for run in dict.fromkeys(line.run for line in lines):
        mine = [line for line in lines if line.run == run]
        console.print(f"[bold]{escape(run.name)}[/]")
        table = Table(box=None, padding=(0, 1, 0, 0), header_style="bold")
        for name in ("world", "told", "success", "95 %", "no turn", "turn", "lead", "FDE"):
            table.add_column(name, justify="left" if name in ("world", "told") else "right")
        for line in mine:
            summary = line.summary
            low, high = summary.success.interval()
            table.add_row(
                line.setting.world,
                escape(line.setting.deployment),
                f"{summary.success.successes}/{summary.success.attempts}",
                f"{low:.2f}-{high:.2f}",
                _fraction(summary.without_turns),
                _fraction(summary.with_turns),
                _centimetres(summary.lead_at_closing_m),
                _centimetres(summary.fde_m),
            )
        console.print(table)
        for line in mine:
            failures = ", ".join(f"{count} {cause}" for cause, count in line.summary.failures.items())
            if failures:
                console.print(f"  {line.setting.world}, {escape(line.setting.deployment)}: {failures}", style="dim")
    console.print(_LEGEND, style="dim")


def _fraction(proportion: Any) -> str:
    return "-" if proportion is None else f"{proportion.successes}/{proportion.attempts}"


def _centimetres(metres: float) -> str:
    return "-" if metres != metres else f"{100 * metres:.1f}"
