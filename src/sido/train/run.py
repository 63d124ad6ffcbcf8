"""The folder that a run is kept in.

    config.json      all that decides the run
    versions.json    which sido and torch it was begun with, and, where they changed, gone on with
    data.json        which demonstrations it learns from, and which are held out
    metrics.jsonl    what it measured
    clock.json       how long it took, and on what
    checkpoint/      `last`, to go on from; `best`, the policy with the lowest validation loss

Files and folders appear whole: whatever moment the process is killed at, the run goes on from the last checkpoint.
"""

from __future__ import annotations

import fcntl
import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, final

from sido.atomic import atomic_path, recover
from sido.errors import DataError, SettingError
from sido.policies.weights import POLICY_FILES
from sido.release import versions
from sido.train.config import TrainConfig
from sido.train.data import TrainingData
from sido.train.metrics import Metrics
from sido.train.state import TrainingState

__all__ = ["Run", "create_run", "open_run", "policy_folder", "read_clock", "read_config", "training_versions"]


@final
class Run:
    """A run's folder, in the hands of this process; `create_run` and `open_run` give it."""

    def __init__(self, folder: Path, config: TrainConfig) -> None:
        self.folder, self.config = folder, config
        self.metrics = Metrics(folder / "metrics.jsonl")
        self.last, self.best = folder / "checkpoint" / "last", folder / "checkpoint" / "best"

    def save_last(self, state: TrainingState, clock: Mapping[str, Any]) -> None:
        """Keep all that it takes to go on."""
        with atomic_path(self.last, overwrite=True) as partial:
            state.save(partial)
        store(self.folder / "clock.json", dict(clock))

    def save_best(self, state: TrainingState) -> None:
        """Keep the policy with its averaged weights."""
        with atomic_path(self.best, overwrite=True) as partial:
            state.save_policy(partial)

    def load_last(self, state: TrainingState) -> None:
        """Go on from the last checkpoint; without one, from the start."""
        if self.last.exists():
            state.load(self.last)
        self.metrics.cut(state.step)

    @property
    def clock(self) -> dict[str, Any]:
        return read_clock(self.folder)

    def require_same_data(self, data: TrainingData) -> None:
        """Note which data the run learns from; later, see that they are still the same."""
        document = {
            "digest": data.digest,
            "train": list(data.train_names),
            "validation": list(data.validation_names),
            "transitions": len(data.train),
        }
        kept = load(self.folder / "data.json")
        if kept is None:
            store(self.folder / "data.json", document)
        elif kept != document:
            differing = [name for name in document if kept.get(name) != document[name]]
            raise DataError(
                "the data are not those that the run was begun with",
                file=self.config.data.path,
                field=", ".join(differing),
                fix="restore the dataset, or begin a new run",
            )

    def note_versions(self, step: int) -> None:
        """Which software the run goes on with, if it is not the one before."""
        file = self.folder / "versions.json"
        noted: list[dict[str, Any]] = load(file) or []
        now = training_versions()
        if not noted or {**noted[-1], "step": 0} != {"step": 0, **now}:
            store(file, [*noted, {"step": step, **now}])


def training_versions() -> dict[str, str]:
    """Of all that decides, beside a config and its data, what comes out."""
    return versions(("torch", "numpy", "safetensors"))


@contextmanager
def create_run(folder: Path, config: TrainConfig) -> Generator[Run]:
    """A new run.

    Raises:
        SettingError: the folder exists.
    """
    if folder.exists():
        going_on = (folder / "config.json").exists()
        raise SettingError(
            "there is a run already" if going_on else "already exists",
            file=folder,
            fix=f"go on with it: sido train --resume {folder}; or choose another folder"
            if going_on
            else "choose another folder",
        )
    with atomic_path(folder) as partial:
        partial.mkdir()
        (partial / "config.json").write_text(config.to_json())
    with open_run(folder) as run:
        yield run


@contextmanager
def open_run(folder: Path) -> Generator[Run]:
    """A run that exists, for this process alone.

    Raises:
        SidoError: it is no run; another process is at it.
    """
    config = read_config(folder)
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # it ends with the process, however that ends
        except BlockingIOError as error:
            raise SettingError(
                "another process is training this run", file=folder, fix="wait for it, or begin another run"
            ) from error
        run = Run(folder, config)
        for checkpoint in (run.last, run.best):
            recover(checkpoint)
        yield run


def read_config(folder: Path) -> TrainConfig:
    """The config of the run in a folder."""
    file = folder / "config.json"
    if not file.is_file():
        raise DataError(
            "not a run", file=folder, found="no such folder" if not folder.exists() else "no config.json in it",
            expected="a folder that sido train made",
        )  # fmt: skip
    try:
        return TrainConfig.from_json(file.read_bytes())
    except (DataError, SettingError) as error:
        raise error.at(file=file) from None


def policy_folder(path: Path, checkpoint: Literal["last", "best"] = "last") -> Path:
    """Where the weights are: of a run, one of its checkpoints; or the folder itself, where it holds a policy.

    Raises:
        DataError: neither.
    """
    for folder in (path, path / "checkpoint" / checkpoint):
        if all((folder / name).is_file() for name in POLICY_FILES):
            return folder
    raise DataError(
        "no policy here",
        file=path,
        found="no such folder" if not path.exists() else f"no {checkpoint} checkpoint, and no {POLICY_FILES[0]}",
        expected="a run that was trained, or a folder of sido's weights",
    )


def read_clock(folder: Path) -> dict[str, Any]:
    """How long a run took, and on what; empty before its first checkpoint."""
    return load(folder / "clock.json") or {}


def load(path: Path) -> Any:
    return json.loads(path.read_text()) if path.exists() else None


def store(path: Path, document: Any) -> None:
    partial = path.with_name(f".{path.name}")
    partial.write_text(json.dumps(document, indent=1))
    partial.replace(path)
