"""Where measurements go besides the run's own `metrics.jsonl`: TensorBoard, Weights & Biases."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, final, runtime_checkable

from sido.errors import MissingExtraError, SettingError
from sido.train.config import TrainConfig

__all__ = ["LOGGERS", "Logger", "Loggers", "TensorBoardLogger", "WandbLogger", "make_logger"]


@runtime_checkable
class Logger(Protocol):
    """Is told what was measured, while the run goes on."""

    def log(self, step: int, values: Mapping[str, float]) -> None: ...

    def close(self) -> None: ...


@final
class Loggers:
    """Several loggers, or none, as one."""

    def __init__(self, loggers: Sequence[Logger] = ()) -> None:
        self._loggers = tuple(loggers)

    def log(self, step: int, values: Mapping[str, float]) -> None:
        for logger in self._loggers:
            logger.log(step, values)

    def close(self) -> None:
        for logger in self._loggers:
            logger.close()


@final
class TensorBoardLogger:
    """Event files in the run's folder `tensorboard/`. A run that goes on hides what it will measure again."""

    def __init__(self, folder: Path, config: TrainConfig, step: int) -> None:  # noqa: ARG002 - the other needs it
        writer = _imported("torch.utils.tensorboard", "tensorboard").SummaryWriter
        self._writer: Any = writer(str(folder / "tensorboard"), purge_step=step + 1)

    def log(self, step: int, values: Mapping[str, float]) -> None:
        for name, value in values.items():
            self._writer.add_scalar(name, value, step)

    def close(self) -> None:
        self._writer.close()


@final
class WandbLogger:
    """A run of Weights & Biases by the folder's name; account, project and mode are as its own settings say."""

    def __init__(self, folder: Path, config: TrainConfig, step: int) -> None:
        wandb = _imported("wandb", "wandb")
        import json

        file = folder / "wandb.json"
        identity = json.loads(file.read_text())["id"] if file.exists() else None
        self._run: Any = wandb.init(
            name=folder.name, dir=str(folder), config=json.loads(config.to_json()), id=identity, resume="allow"
        )
        file.write_text(json.dumps({"id": self._run.id}))
        self._from = step

    def log(self, step: int, values: Mapping[str, float]) -> None:
        self._run.log(dict(values), step=step)

    def close(self) -> None:
        self._run.finish()


LOGGERS = {"tensorboard": TensorBoardLogger, "wandb": WandbLogger}
"""By the name that `--log` takes."""


def make_logger(names: Sequence[str], folder: Path, config: TrainConfig, step: int) -> Logger:
    """The loggers that a person asked for, for a run that goes on after `step` updates."""
    for name in names:
        if name not in LOGGERS:
            raise SettingError("unknown logger", found=repr(name), expected=f"some of {', '.join(LOGGERS)}")
    return Loggers([LOGGERS[name](folder, config, step) for name in names])


def _imported(module: str, package: str) -> Any:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"logging to {package}", package, "log") from error
