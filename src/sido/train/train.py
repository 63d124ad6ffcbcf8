"""Training a policy: a new run, or one that goes on."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import NamedTuple

import torch

from sido.policies import Policy, build_policy
from sido.train.config import TrainConfig
from sido.train.data import ReadingProgress, TrainingData, read_training_data
from sido.train.logger import Logger, Loggers
from sido.train.loop import Loop, Standing, StopAsked, TrainingProgress
from sido.train.parallel import ALONE, Team
from sido.train.randomness import generator_for
from sido.train.rollouts import Rollouts
from sido.train.run import Run, create_run, open_run, read_config
from sido.train.state import Best, TrainingState

__all__ = ["MakeLogger", "Outcome", "new_policy", "resume", "train"]


class Outcome(NamedTuple):
    """What came of a go at a run."""

    folder: Path
    step: int
    steps: int
    best: Best | None

    @property
    def ended(self) -> bool:
        """Whether the run is complete; else it was asked to stop, and goes on with `resume`."""
        return self.step == self.steps


MakeLogger = Callable[[Path, TrainConfig, int], Logger]
"""Of a run's folder, its config, and the updates that were made before."""


def unheard(_standing: Standing) -> None:
    """The progress report that nobody listens to."""


def train(
    config: TrainConfig,
    folder: Path,
    *,
    device: torch.device | str = "cpu",
    team: Team = ALONE,
    logger: MakeLogger = lambda _folder, _config, _step: Loggers(),
    reading: ReadingProgress | None = None,
    progress: TrainingProgress = unheard,
    stop: StopAsked = lambda: False,
    rollouts: Rollouts | None = None,
) -> Outcome:
    """Train a new policy, into a new folder.

    Killed at any moment, it goes on with `resume`, and comes to the same weights as without (on a CPU, bit for bit).

    Args:
        config: All that decides what comes out.
        folder: Where the run is kept; it must not exist.
        device: Where to compute.
        team: The processes that train this one policy together.
        logger: Makes who else is told what was measured.
        reading: Called while demonstrations are read, with how many are done, and of how many.
        progress: Called whenever something was measured.
        stop: Asked after each update; once it says so, the run is saved as it is, and left.
        rollouts: Plays with the policy now and then.

    Raises:
        SidoError: the folder exists; the data do not fit; the loss is no number; the disk is full.
    """
    with _in_hand(team, create_run(folder, config), folder) as run:
        return _go_on(run, torch.device(device), team, logger, reading, progress, stop, rollouts)


def resume(
    folder: Path,
    *,
    device: torch.device | str = "cpu",
    team: Team = ALONE,
    logger: MakeLogger = lambda _folder, _config, _step: Loggers(),
    reading: ReadingProgress | None = None,
    progress: TrainingProgress = unheard,
    stop: StopAsked = lambda: False,
    rollouts: Rollouts | None = None,
) -> Outcome:
    """Go on with the run in a folder, from its last checkpoint; the arguments are those of `train`.

    Raises:
        SidoError: it is no run; its data have changed; and as `train`.
    """
    with _in_hand(team, open_run(folder), folder) as run:
        return _go_on(run, torch.device(device), team, logger, reading, progress, stop, rollouts)


def new_policy(config: TrainConfig, data: TrainingData) -> Policy:
    """The policy that a run begins with: its weights follow from the seed."""
    with torch.random.fork_rng(devices=[]):  # layers draw from the global generator
        torch.set_rng_state(generator_for("weights", config.seed).get_state())
        return build_policy(config.policy, data.statistics, data.action_spec)


def _go_on(
    run: Run,
    device: torch.device,
    team: Team,
    make_logger: MakeLogger,
    reading: ReadingProgress | None,
    progress: TrainingProgress,
    stop: StopAsked,
    rollouts: Rollouts | None,
) -> Outcome:
    config = run.config
    team.share(config.parts)  # before anything is read
    with _threads(config.threads):
        with _in_turn(team):
            data = read_training_data(config, reading)
            if team.leads:
                run.require_same_data(data)
        steps = config.duration.steps(
            transitions=len(data.train), demos=len(data.train_names), batch_size=config.batch_size
        )
        state = TrainingState(new_policy(config, data).to(device), config, steps=steps)
        with _in_turn(team):
            run.load_last(state)
            if team.leads:
                run.note_versions(state.step)
        logger = make_logger(run.folder, config, state.step) if team.leads else Loggers()
        try:
            Loop(run, data, state, steps, device, team, logger, progress, stop, rollouts).go_on()
        finally:
            logger.close()
    return Outcome(run.folder, state.step, steps, state.best)


@contextmanager
def _in_hand(team: Team, run: AbstractContextManager[Run], folder: Path) -> Generator[Run]:
    """The run, which the process that leads holds for the whole team."""
    if not team.leads:
        team.wait()
        yield Run(folder, read_config(folder))
        return
    with run as held:
        team.wait()
        yield held


@contextmanager
def _in_turn(team: Team) -> Generator[None]:
    """First the process that leads, then the others: what it wrote they find."""
    if not team.leads:
        team.wait()
    yield
    if team.leads:
        team.wait()


@contextmanager
def _threads(count: int) -> Generator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
