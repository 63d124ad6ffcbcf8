"""`sido train`: a policy from demonstrations."""

from __future__ import annotations

import dataclasses
import os
import signal
import types
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sido.cli.duration import shown_duration
from sido.cli.generate import with_chunks
from sido.cli.progress import progress_bar
from sido.cli.rollouts import rollouts_of
from sido.cli.train_options import ConfigOptions, DataOptions
from sido.errors import SettingError

if TYPE_CHECKING:
    import torch

    from sido.train import Outcome, Standing, TrainConfig

__all__ = ["train"]


def train(
    preset: Annotated[str | None, tyro.conf.Positional] = None,
    /,
    *,
    data: str | None = None,
    out: Annotated[Path | None, tyro.conf.arg(aliases=["-o"])] = None,
    resume: Path | None = None,
    config: Path | None = None,
    obs: Literal["state", "image"] = "state",
    scale: Literal["cpu", "paper"] = "cpu",
    cameras: tuple[str, ...] | None = None,
    seed: int = 0,
    device: str = "auto",
    logger: tuple[Literal["tensorboard", "wandb"], ...] = (),
    rollouts: int = 0,
    rollouts_every: int = 2000,
    rollouts_task: str = "stack",
    print_config: bool = False,
    reading: Annotated[DataOptions, tyro.conf.OmitArgPrefixes] = DataOptions(),
    changes: Annotated[ConfigOptions, tyro.conf.OmitArgPrefixes] = ConfigOptions(),
) -> int:
    """Train a policy on demonstrations, into a run's folder.

        sido train dp-sido --data stack.hdf5
        sido train --resume runs/dp-sido-state-cpu-0

    Ctrl-C saves the run and stops; killed, it goes on from its last checkpoint. Either way `--resume` comes to the same
    weights as a run that was never interrupted. Under torchrun, its processes train one policy together.

    Args:
        preset: dp, dp-current-pose, dp-sido: Diffusion Policy that is told nothing of the object's position, where it
            is, where it will be; equidp, equidp-current-pose, equidp-sido: the same of Equivariant Diffusion Policy.
        data: The dataset: a file or a folder.
        out: The run's folder; by default runs/PRESET-OBS-SCALE-SEED.
        resume: Go on with this run instead; nothing else of it can be changed.
        config: Train what this file says instead of a preset: a config.json, as each run has one.
        obs: What the policy sees: state, or the images of cameras.
        scale: cpu: for a laptop, minutes. paper: the paper's and the originals' settings, for a cluster.
        cameras: Which; by default all that the dataset has.
        seed: The same seed gives the same weights, on a CPU to the last bit.
        device: Where to compute: cpu, cuda, cuda:1; auto is cuda where there is one.
        logger: Who else is told what was measured: tensorboard, wandb.
        rollouts: Play so many episodes with a still object now and then, and measure the success rate.
        rollouts_every: In updates.
        rollouts_task: stack, square, mug, gantry or peachtree.
        print_config: Print the config as JSON, and train nothing.
        reading: How to read the dataset.
        changes: What to change of the preset.
    """
    from sido.train import joined_team, make_logger
    from sido.train import resume as go_on
    from sido.train import train as begin

    settings = (
        None if resume is not None else _config(preset, config, data, obs, scale, cameras, seed, reading, changes)
    )
    if resume is not None and (
        preset or config or data or out or reading != DataOptions() or changes != ConfigOptions()
    ):
        raise SettingError("a run goes on as it began", field="--resume", fix="leave out all but --device and --logger")
    if settings is not None and print_config:
        print(settings.to_json())
        return 0
    folder = resume or out or Path("runs") / f"{config.stem if config else f'{preset}-{obs}-{scale}'}-{seed}"
    place = _device(device)
    played = rollouts_of(rollouts_task, rollouts, rollouts_every, place)
    with joined_team(place) as team, _stop_asked() as asked, _shown(team.leads) as (told, read):
        common: dict[str, Any] = {
            "device": place,
            "team": team,
            "logger": lambda *run: make_logger(logger, *run),
            "reading": read,
            "progress": told,
            "stop": lambda: asked[0],
            "rollouts": played,
        }
        outcome = go_on(folder, **common) if settings is None else begin(settings, folder, **common)
    if team.leads:
        _print(outcome)
    return 0 if outcome.ended else 130


def _config(
    preset: str | None,
    file: Path | None,
    data: str | None,
    obs: Literal["state", "image"],
    scale: Literal["cpu", "paper"],
    cameras: tuple[str, ...] | None,
    seed: int,
    reading: DataOptions,
    changes: ConfigOptions,
) -> TrainConfig:
    from sido.train import TrainConfig, fit_to_data, launched_by_torchrun
    from sido.train import preset as named

    if file is not None:
        if preset or cameras:
            raise SettingError("a preset or a config, not both", field="--config")
        if not file.is_file():
            raise SettingError("no such file", field="--config", found=file)
        config = TrainConfig.from_json(file.read_bytes(), place=str(file))
        if data is not None:
            config = dataclasses.replace(config, data=reading.config(data))
    elif preset is None or data is None:
        raise SettingError(
            "what is to be trained?",
            found=f"{'no preset' if preset is None else preset}, {'no dataset' if data is None else data}",
            expected="sido train PRESET --data DATASET, or sido train --resume RUN",
        )
    else:
        if obs == "state" and cameras:
            raise SettingError("a policy from state has no cameras", field="--cameras", fix="--obs image")
        source = reading.config(data)
        fitted = fit_to_data(source, cameras if obs == "image" else ())
        config = named(preset, source, fitted, sight=obs, scale=scale)
    config = dataclasses.replace(config, seed=seed)
    processes = launched_by_torchrun()
    if processes is not None and changes.parts is None and config.parts % processes:
        changes = dataclasses.replace(changes, parts=processes)
    config = changes.applied(config)
    return config if changes.generator is None else with_chunks(config, changes.generator, changes.cache)


def _device(name: str) -> torch.device:
    import torch

    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise SettingError("unknown device", field="--device", found=name, expected="cpu, cuda, cuda:1") from error
    if device.type == "cuda" and not torch.cuda.is_available():
        raise SettingError("this machine has no CUDA device", field="--device", found=name, fix="--device cpu")
    if name == "cuda":  # of a team on one machine, each process has its own
        device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
        torch.cuda.set_device(device)
    return device


@contextmanager
def _stop_asked() -> Generator[list[bool]]:
    """Whether somebody asked to stop, politely (Ctrl-C, or what a cluster sends before it kills); twice is at once."""
    asked = [False]

    def ask(number: int, _frame: types.FrameType | None) -> None:
        if asked[0]:
            raise KeyboardInterrupt
        asked[0] = True
        Console(stderr=True).print(f"{signal.Signals(number).name}: saving the run, then stopping")

    before: dict[signal.Signals, Any] = {
        number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _shown(leads: bool) -> Generator[tuple[Any, Any]]:
    """Who is told how far the run is, and how much has been read: a bar on the terminal of the process that leads."""
    if not leads:
        yield (lambda _standing: None), None
        return
    with progress_bar("training") as bar:
        latest: dict[str, str] = {}

        def told(standing: Standing) -> None:
            for name, value in (("loss", standing.loss), ("validation", standing.validation_loss)):
                if value is not None:
                    latest[name] = f"{name} {value:.4f}"
            left = shown_duration(standing.left_s)
            bar(
                standing.step,
                standing.steps,
                ", ".join((*latest.values(), f"{standing.samples_per_s:.0f} samples/s, {left}")),
            )

        yield told, lambda done, total: bar(done, total, "reading demonstrations")


def _print(outcome: Outcome) -> None:
    from sido.train import read_clock, read_metrics

    metrics = read_metrics(outcome.folder / "metrics.jsonl")
    losses = [line["loss"] for line in metrics if "loss" in line]
    clock = read_clock(outcome.folder)
    rows = [
        ("run", str(outcome.folder)),
        ("updates", f"{outcome.step}" if outcome.ended else f"{outcome.step} of {outcome.steps}"),
        ("loss", f"{losses[-1]:.4f}" if losses else "not measured yet"),
    ]
    if outcome.best is not None:
        rows.append(("validation", f"{outcome.best.validation_loss:.4f} at best, after {outcome.best.step} updates"))
    if clock:
        rows.append(("time", f"{shown_duration(clock['elapsed_s'])}, {clock['samples_per_s']:.0f} samples/s"))
    rows.append(
        ("next", f"sido policy info {outcome.folder}" if outcome.ended else f"sido train --resume {outcome.folder}")
    )
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for name, value in rows:
        table.add_row(f"[bold]{name}[/]", escape(value))
    Console(soft_wrap=True).print(table)
