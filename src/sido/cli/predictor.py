"""`sido predictor fit`, `sido predictor evaluate`: teach predictors of where objects will be, and measure them."""

from __future__ import annotations

import functools
import json as json_format
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import tyro
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sido.cli.progress import progress_bar
from sido.errors import SettingError

if TYPE_CHECKING:
    from sido.predict import Predictor, Track
    from sido.predict.assessing import Exam

__all__ = ["predictor"]


@dataclass(frozen=True)
class TrackOptions:
    """Where the objects were."""

    motion: tuple[str, ...] = ("gantry",)
    """Simulated motions: x, y, circle, random, gantry, ..."""
    speed: tuple[float, ...] = ()
    """m/s, every motion at each; at its own, if not given."""
    log: tuple[Path, ...] = ()
    """Logs of real poses in place of simulated motions: .csv, .parquet, .hdf5 with columns time_s, x_m, y_m, z_m, and
    perhaps episode."""

    def recorded(self) -> list[Track]:
        """What the logs hold."""
        from sido.predict import read_tracks

        return [track for log in self.log for track in read_tracks(log)]

    def cases(self) -> list[tuple[str, float | None]]:
        """Each motion at each speed; a still object once."""
        speeds: tuple[float | None, ...] = self.speed or (None,)
        pairs = [(name, None if name == "still" else speed) for name in self.motion for speed in speeds]
        return list(dict.fromkeys(pairs))

    def simulated(
        self, rng: np.random.Generator, name: str, speed: float | None, count: int, lasts_s: float
    ) -> list[Track]:
        """So many tracks of one motion."""
        from sido.motion import motion_named
        from sido.predict import simulated_tracks
        from sido.predict.lessons import usual_region

        motion = motion_named(name, speed)
        return list(simulated_tracks(motion, usual_region(name), rng, name=name, tracks=count, duration_s=lasts_s))


def fit(
    network: Annotated[Literal["mlp", "fernn"], tyro.conf.Positional],
    /,
    *,
    out: Annotated[Path, tyro.conf.arg(aliases=["-o"])],
    minutes: float = 5.0,
    noise: float = 0.003,
    latency: float = 0.1,
    dropout: float = 0.2,
    turned: bool = True,
    rate: float = 20.0,
    horizon: float = 0.8,
    observations: int = 8,
    steps: int | None = None,
    seed: int = 0,
    force: bool = False,
    tracks: Annotated[TrackOptions, tyro.conf.OmitArgPrefixes] = TrackOptions(),
) -> int:
    """Teach a network where objects will be, on minutes of their motion: simulated, or from logs of real poses.

    Args:
        network: mlp (8 positions and velocities, two layers of 128) or fernn (25 hypotheses of the velocity).
        out: The folder to write: predictor.json, weights.safetensors.
        minutes: How much simulated motion there is in all.
        noise: Augmentation: poses are up to so noisy; standard deviation in metres along each axis.
        latency: Augmentation: poses are up to so late, seconds.
        dropout: Augmentation: up to this share of the looks is lost.
        turned: Augmentation: turn and mirror every question, so that what holds for one direction holds for all.
        rate: Looks per second.
        horizon: T_p, seconds.
        observations: How many poses the network looks at.
        steps: Of the optimiser; the network's usual, if not given.
        seed: The same seed gives the same network.
        force: Replace an existing folder.
        tracks: What it is taught on.
    """
    if out.exists() and not force:
        raise SettingError("already exists", file=out, fix="choose another name, or pass --force")
    import torch

    from sido.predict import save_learned
    from sido.predict.fitting import USUAL_STEPS, FitSettings
    from sido.predict.fitting import fit as teach
    from sido.predict.lessons import lessons
    from sido.predict.questions import Augmentation

    taught = tracks.recorded() or lessons(tracks.cases(), minutes, np.random.default_rng(seed))
    torch.set_num_threads(1)  # small matrices: a second thread only waits
    settings = FitSettings(
        network=network,
        observations=observations,
        rate_hz=rate,
        horizon_s=horizon,
        augmentation=Augmentation(noise_m=noise, latency_s=latency, dropout=dropout, turned=turned),
        steps=steps or USUAL_STEPS[network],
        seed=seed,
    )
    with progress_bar(f"teaching {network}") as progress:
        fitted = teach(taught, settings, progress)
    about = {"settings": _plain(settings), "tracks": _told(tracks, taught), "versions": _versions()}
    save_learned(fitted.predictor, out, about=about, overwrite=force)
    lasted = sum(track.duration_s for track in taught)
    Console(soft_wrap=True).print(
        f"{network}, taught on {lasted / 60.0:.1f} minutes of {len(taught)} tracks in {fitted.seconds:.0f} s: "
        f"off by {fitted.losses_cm[-50:].mean():.2f} cm over the last questions; wrote {escape(str(out))}"
    )
    return 0


def evaluate(
    predictors: Annotated[tuple[str, ...], tyro.conf.Positional],
    /,
    *,
    episodes: Annotated[int, tyro.conf.arg(aliases=["-n"])] = 50,
    grasp: float = 8.0,
    horizon: float = 0.8,
    noise: tuple[float, ...] = (0.003,),
    latency: tuple[float, ...] = (0.0,),
    dropout: tuple[float, ...] = (0.0,),
    rate: float = 20.0,
    seed: int = 1_000_000,
    walls: bool = False,
    plot: Path | None = None,
    json: bool = False,
    tracks: Annotated[TrackOptions, tyro.conf.OmitArgPrefixes] = TrackOptions(),
) -> int:
    """Print how far off predictors are at the horizon, over the window before the grasp: the final displacement error.

    All predictors get the same questions, at every control step from 0.4 s on. One table by motion and speed, under
    every combination of noise, latency and dropout; one by the time since the object's last turn. The error that
    follows a +- is the standard error over episodes.

    Args:
        predictors: hold, finite-difference (is told the speed), finite-difference-measured, kalman,
            interacting-models, last-turn, last-turn-known, legs-and-arcs (the best), or folders of learned ones;
            "deadband:" before any of them lets what does not move rest. All but the learned ones, if none is given.
        episodes: How many of each motion.
        grasp: T_g, seconds after the object came into sight.
        horizon: T_p, seconds.
        noise: Of the poses; standard deviations in metres, along each axis.
        latency: Of the poses, seconds.
        dropout: Shares of the looks that are lost.
        rate: Looks per second.
        seed: The same seed asks the same questions.
        walls: Fold forecasts at the region's edges, which simulated motions are reflected by.
        plot: Draw histories, futures and forecasts: .png, .pdf or .svg.
        json: Print JSON.
        tracks: What they are asked about.
    """
    from sido.predict import PREDICTORS, Reflected, Watching, predictor_named
    from sido.predict.assessing import ExamSettings, examine, longest_window, score, since_turn_bins, sit
    from sido.predict.lessons import usual_region

    names = predictors or tuple(PREDICTORS)
    settings = ExamSettings(horizon, grasp)
    recorded = tracks.recorded()
    cases: list[tuple[str, float | None]] = [("recorded", None)] if recorded else tracks.cases()
    found: list[dict[str, Any]] = []
    exams: list[tuple[Exam, dict[str, Predictor]]] = []
    with progress_bar("evaluating") as progress:
        for number, (motion, speed) in enumerate(cases):
            told = speed if recorded else _commanded(motion, speed)
            asked: dict[str, Predictor] = {name: predictor_named(name, told) for name in names}
            if walls and not recorded:
                asked = {name: Reflected(one, usual_region(motion)) for name, one in asked.items()}
            rng = np.random.default_rng([seed, number])
            case = recorded or tracks.simulated(rng, motion, speed, episodes, grasp)
            for watching in (Watching(rate, n, late, lost) for n in noise for late in latency for lost in dropout):
                window = longest_window(list(asked.values()))
                exam = examine(case, watching, window, np.random.default_rng([seed, number, 1]), settings)
                exams.append((exam, asked))
                for name, one in asked.items():
                    distances = sit(exam, one)
                    bins = {label: score(exam, distances, where)._asdict() for label, where in since_turn_bins(exam)}
                    whole = score(exam, distances)._asdict()
                    seen = {"noise_m": watching.noise_m, "latency_s": watching.latency_s, "dropout": watching.dropout}
                    found.append(
                        {"predictor": name, "motion": motion, "speed_mps": told, **seen, **whole, "since_turn": bins}
                    )
            progress(number + 1, len(cases))
    if plot is not None:
        from sido.predict.picture import draw_forecasts

        draw_forecasts(*exams[0], plot)
    if json:
        print(json_format.dumps(found, indent=2))
    else:
        _print(found, names, plot)
    return 0


def _later(command: Callable[..., int]) -> Callable[..., Callable[[], int]]:
    """The command, to be run once its arguments are parsed: what it raises is then not taken for a wrong argument."""

    @functools.wraps(command)
    def prepare(*arguments: Any, **options: Any) -> Callable[[], int]:
        return functools.partial(command, *arguments, **options)

    return prepare


def predictor(
    verb: tyro.conf.OmitSubcommandPrefixes[
        Annotated[Any, tyro.conf.subcommand("fit", constructor=_later(fit))]
        | Annotated[Any, tyro.conf.subcommand("evaluate", constructor=_later(evaluate))]
    ],
) -> int:
    """Where the object will be: teach predictors on its motion, and measure how far off they are."""
    return verb()


def _commanded(motion: str, speed: float | None) -> float:
    from sido.motion import motion_named

    return motion_named(motion, speed).speed_mps


def _plain(settings: Any) -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(settings)


def _told(options: TrackOptions, taught: list[Track]) -> dict[str, Any]:
    return {
        "motion": None if options.log else list(options.motion),
        "speed_mps": list(options.speed),
        "log": [log.name for log in options.log],
        "tracks": len(taught),
        "seconds": sum(track.duration_s for track in taught),
    }


def _versions() -> dict[str, str]:
    from importlib.metadata import version

    return {name: version(name) for name in ("sido", "numpy", "torch", "safetensors")}


_SEEN: dict[str, tuple[str, str, float]] = {
    "noise_m": ("noise", "mm", 1000.0),
    "latency_s": ("late", "ms", 1000.0),
    "dropout": ("lost", "%", 100.0),
}
"""How poses are seen: what of it differs between rows has a column, the rest stands above."""


def _print(found: list[dict[str, Any]], names: tuple[str, ...], plot: Path | None) -> None:
    """For terminals of 80 columns."""
    console = Console()
    varied = [name for name in _SEEN if len({row[name] for row in found}) > 1]
    alike = ", ".join(
        f"{what} {scale * found[0][name]:g} {unit}" for name, (what, unit, scale) in _SEEN.items() if name not in varied
    )
    console.print(
        f"[bold]final displacement error, cm[/] ({alike})" if alike else "[bold]final displacement error, cm[/]"
    )
    table = Table(box=None, padding=(0, 1, 0, 0), header_style="bold")
    for heading in ("motion", "cm/s", *(", ".join(_SEEN[name][:2]) for name in varied), "predictor", "FDE", "asked"):
        table.add_column(heading, justify="left" if heading in ("motion", "predictor") else "right", overflow="fold")
    for row in found:
        speed = row["speed_mps"]
        table.add_row(
            row["motion"],
            "" if speed is None else f"{speed * 100:g}",
            *(f"{_SEEN[name][2] * row[name]:g}" for name in varied),
            escape(row["predictor"]),
            _cm(row),
            str(row["questions"]),
            end_section=row["predictor"] == names[-1],
        )
    console.print(table)
    console.print("\n[bold]the same, by the seconds since the object's last turn[/]")
    _print_turns(found, names, console)
    console.print(
        "FDE: how far a forecast at the horizon is off, mean over all questions ± standard error over episodes; asked: "
        "how many questions. noise: standard deviation of each pose; late: how old it is; lost: looks that are lost.",
        style="dim",
    )
    if plot is not None:
        console.print(f"picture: {escape(str(plot))}", soft_wrap=True)


def _print_turns(found: list[dict[str, Any]], names: tuple[str, ...], console: Console) -> None:
    scores = {
        (name, label): _pooled([row["since_turn"][label] for row in found if row["predictor"] == name])
        for name in names
        for label in found[0]["since_turn"]
    }
    labels = [label for label in found[0]["since_turn"] if scores[names[0], label][1]]
    turns = Table(box=None, padding=(0, 1, 0, 0), header_style="bold")
    for heading in ("predictor", *labels):
        turns.add_column(escape(heading), justify="left" if heading == "predictor" else "right", overflow="fold")
    for name in names:
        turns.add_row(escape(name), *(f"{100 * scores[name, label][0]:.2f}" for label in labels))
    turns.add_row("asked", *(str(scores[names[0], label][1]) for label in labels), style="dim")
    console.print(turns)


def _cm(row: dict[str, Any]) -> str:
    return f"{100 * row['fde_m']:.2f} ± {100 * row['error_m']:.2f}"


def _pooled(scores: list[dict[str, Any]]) -> tuple[float, int]:
    questions = sum(s["questions"] for s in scores)
    total = sum(s["fde_m"] * s["questions"] for s in scores if s["questions"])
    return (total / questions if questions else float("nan")), questions
