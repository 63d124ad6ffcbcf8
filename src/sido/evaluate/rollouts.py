"""Rollouts on disk: what has been played is kept, and only what is missing is played.

    FOLDER/stack-x-4cm-hold-1f0c9a2b/setting.json      what decides these rollouts
                                     000000-000024.parquet   some of them

A cell's name is for people; the figures behind it are of everything that decides its rollouts: the setting, the
policy, and the versions of what computes. Another policy in the same run has other cells.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, final

from sido.atomic import atomic_path, recover
from sido.errors import SettingError
from sido.evaluate.player import Portion, TroupeOf
from sido.evaluate.policy_source import PolicySource
from sido.evaluate.rollout import Rollout
from sido.evaluate.rollout_file import read_about, read_rollouts, write_rollouts
from sido.evaluate.setting import Setting
from sido.jobs import Crew
from sido.predict.saved import DOCUMENT, WEIGHTS
from sido.release import versions

__all__ = ["Cell", "Standing", "Wanted", "cell_of", "roll_out", "roll_out_all"]

_PORTION = 32
_COMPUTING = ("mujoco", "robosuite", "numpy", "numba", "torch")


class Standing(NamedTuple):
    """How far it is."""

    done: int
    wanted: int
    successes: int
    """Of those that were played just now,"""
    played: int
    """and how many these are."""
    what: str
    """The cell in which the last ones were played."""


@final
@dataclass(frozen=True)
class Cell:
    """The rollouts of one policy in one setting, on disk."""

    folder: Path
    setting: Setting
    policy: str
    """Its identity."""

    def files(self) -> list[Path]:
        return sorted(self.folder.glob("[!.]*.parquet"))

    def seeds(self) -> set[int]:
        """Of the rollouts that there are."""
        return {episode["seed"] for file in self.files() for episode in read_about(file)["episodes"]}

    def rollouts(self, seeds: Sequence[int] | None = None) -> Iterator[Rollout]:
        """Those of the seeds, in their order; all, in order of seeds, if not given.

        Raises:
            SettingError: one has not been played.
        """
        found: dict[int, Rollout] = {}
        wanted = None if seeds is None else set(seeds)
        for file in self.files():
            if wanted is None or any(episode["seed"] in wanted for episode in read_about(file)["episodes"]):
                found |= {rollout.seed: rollout for rollout in read_rollouts(file)}
        for seed in sorted(found) if seeds is None else seeds:
            if seed not in found:
                raise SettingError("has not been played", file=self.folder, field="seed", found=seed)
            yield found[seed]


def cell_of(folder: Path, source: PolicySource, setting: Setting) -> Cell:
    """Where the rollouts of this policy in this setting are, or will be."""
    decides = _decides(setting, source.identity)
    figures = hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()[:8]
    speed = f"{100 * setting.speed_mps:g}cm" if setting.moves else ""
    learned = setting.learned
    predictor = setting.predictor if learned is None else setting.predictor.replace(str(learned), learned.name)
    parts = (setting.task, setting.motion, speed, predictor, setting.correction, setting.horizon)
    usual = ("", "none", "chunk")
    name = "-".join(re.sub(r"[^A-Za-z0-9._-]+", "_", part) for part in parts if part not in usual)
    return Cell(folder / f"{name}-{figures}", setting, source.identity)


class Wanted(NamedTuple):
    """A policy, what it is to play, and where that is kept."""

    folder: Path
    source: PolicySource
    settings: Sequence[Setting]


def roll_out(
    folder: Path,
    source: PolicySource,
    settings: Sequence[Setting],
    seeds: Sequence[int],
    crew: Crew,
    *,
    envs: int = 16,
    device: str = "cpu",
    progress: Callable[[Standing], None] = lambda _: None,
) -> list[Cell]:
    """Play what is missing of all settings x seeds; the same seeds in each, so that cells are paired.

    It may be killed at any time; called again it goes on, and comes to the same rollouts. Neither `envs` nor the crew
    make a difference to them.
    """
    wanted = [Wanted(folder, source, settings)]
    return roll_out_all(wanted, seeds, crew, envs=envs, device=device, progress=progress)


def roll_out_all(
    wanted: Sequence[Wanted],
    seeds: Sequence[int],
    crew: Crew,
    *,
    envs: int = 16,
    device: str = "cpu",
    progress: Callable[[Standing], None] = lambda _: None,
) -> list[Cell]:
    """`roll_out` of several policies, by a crew that comes together once."""
    if len(set(seeds)) != len(seeds) or not seeds:
        raise SettingError("not a list of seeds", field="seeds", found=list(seeds), expected="one or more, each once")
    cells: list[Cell] = []
    portions: list[tuple[Cell, PolicySource, Portion]] = []
    done = 0
    for folder, source, settings in wanted:
        for setting in settings:
            cell = cell_of(folder, source, setting)
            _begin(cell)
            cells.append(cell)
            there = cell.seeds()
            missing = [seed for seed in seeds if seed not in there]
            done += len(seeds) - len(missing)
            portions += [(cell, source, Portion(setting, part)) for part in _parts(missing)]
    asked = len(cells) * len(seeds)
    successes = played = 0
    progress(Standing(done, asked, 0, 0, ""))
    about = {"made_with": versions(_COMPUTING)}
    jobs = iter([(source, portion) for _cell, source, portion in portions])
    run = crew.run(TroupeOf(envs=envs, device=device), jobs)
    try:
        for number, rollouts in run if portions else ():
            cell, _source, portion = portions[number]
            _keep(cell, portion, rollouts, about)
            played += len(rollouts)
            successes += sum(rollout.success for rollout in rollouts)
            what = f"{cell.setting.world}, {cell.setting.deployment}"
            progress(Standing(done + played, asked, successes, played, what))
    finally:
        run.close()
    return cells


def _decides(setting: Setting, policy: str) -> dict[str, Any]:
    computing = dict(_computing())
    told: dict[str, Any] = json.loads(setting.to_json())
    if setting.longest_s is None:  # as before there was such a thing
        del told["longest_s"]
    decides = {"setting": told, "policy": policy, "computing": computing}
    learned = setting.learned
    if learned is not None:  # by what it is, and not by where it lies
        files = [learned / name for name in (DOCUMENT, WEIGHTS)]
        decides["predictor"] = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]
        told["predictor"] = setting.predictor.replace(str(learned), "learned")
    return decides


@functools.cache
def _computing() -> tuple[tuple[str, str], ...]:
    """Versions; git, which `versions` asks as well, would take longer than all else of a cell."""
    return tuple((name, version) for name, version in versions(_COMPUTING).items() if name in _COMPUTING)


def _begin(cell: Cell) -> None:
    cell.folder.mkdir(parents=True, exist_ok=True)
    for file in cell.folder.glob(".partial-*-*.parquet"):
        recover(cell.folder / file.name.split("-", 2)[2])
    about = cell.folder / "setting.json"
    if not about.exists():
        with atomic_path(about, overwrite=True) as partial:
            partial.write_text(json.dumps(_decides(cell.setting, cell.policy), indent=1))


def _keep(cell: Cell, portion: Portion, rollouts: Sequence[Rollout], about: dict[str, Any]) -> None:
    first, last = min(portion.seeds), max(portion.seeds)
    write_rollouts(cell.folder / f"{first:09d}-{last:09d}.parquet", rollouts, about)


def _parts(seeds: Sequence[int]) -> list[tuple[int, ...]]:
    """Portions of equal size, as far as possible: the last one played alone would keep others waiting."""
    count = math.ceil(len(seeds) / _PORTION)
    return [tuple(seeds[k * len(seeds) // count : (k + 1) * len(seeds) // count]) for k in range(count)]
