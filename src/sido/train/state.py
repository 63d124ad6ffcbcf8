"""A run between two updates: all that decides how it goes on."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NamedTuple, final

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from sido.errors import DataError
from sido.policies import Policy, save_policy
from sido.train.average import Average
from sido.train.config import TrainConfig
from sido.train.optimiser import Optimiser

__all__ = ["Best", "TrainingState"]


class Best(NamedTuple):
    """The lowest validation loss so far, and after how many updates it was found."""

    step: int
    validation_loss: float


@final
class TrainingState:
    """The weights, their average, what the optimiser remembers, and the numbers that are kept along the way.

    Saved as a folder: `policy.safetensors` and `policy.json`, the policy with the average's weights, as it is deployed;
    `training.safetensors` and `training.json`, the rest.
    """

    def __init__(self, policy: Policy, config: TrainConfig, *, steps: int) -> None:
        self.policy = policy
        self.average = Average(policy, config.average)
        self.optimiser = Optimiser(policy, config.optimiser, steps=steps)
        self.step = 0
        """Updates made."""
        self.losses: list[float] = []
        """Of the updates since the metrics were last written."""
        self.best: Best | None = None

    def save(self, folder: Path) -> None:
        """Write all of it into a folder that does not exist yet."""
        self.save_policy(folder)
        tensors = {f"weights.{name}": weight.detach() for name, weight in self.optimiser.weights.items()}
        tensors |= {f"optimiser.{name}": tensor for name, tensor in self.optimiser.tensors().items()}
        save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, folder / "training.safetensors")
        document = {"step": self.step, "losses": self.losses, "best": self.best and self.best._asdict()}
        (folder / "training.json").write_text(json.dumps(document))
        flush(folder)

    def save_policy(self, folder: Path) -> None:
        """Write what is deployed into a folder that does not exist yet."""
        folder.mkdir()
        save_policy(self.average.policy, folder)
        flush(folder)

    @torch.no_grad()
    def load(self, folder: Path) -> None:
        """Become what was saved there.

        Raises:
            DataError: files are missing or damaged, or belong to another policy.
        """
        try:
            document: Any = json.loads((folder / "training.json").read_text())
            tensors = load_file(folder / "training.safetensors")
            self.average.policy.load_state_dict(load_file(folder / "policy.safetensors"))
            for name, weight in self.optimiser.weights.items():
                weight.copy_(tensors[f"weights.{name}"])
            self.optimiser.restore(_under("optimiser.", tensors))
            self.step, self.losses = int(document["step"]), [float(loss) for loss in document["losses"]]
            self.best = document["best"] and Best(**document["best"])
        except (OSError, ValueError, KeyError, TypeError, RuntimeError, SafetensorError) as error:
            raise DataError(
                "the checkpoint is damaged, or of another policy",
                file=folder,
                found=error,
                fix="delete the folder to begin again from the start",
            ) from error


def flush(folder: Path) -> None:
    """See that every file is on the disk: else a machine that loses power may keep names and not contents."""
    for file in folder.iterdir():
        with file.open("rb") as stream:
            os.fsync(stream.fileno())


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
