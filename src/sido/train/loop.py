"""The loop: batches in, better weights out."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import torch
from safetensors import SafetensorError
from torch import Tensor, nn

from sido.demos import ChunkBatch
from sido.errors import DataError, SidoError
from sido.train.batches import Order, ahead
from sido.train.data import TrainingData
from sido.train.logger import Logger
from sido.train.parallel import Team
from sido.train.randomness import generator_for
from sido.train.rollouts import Rollouts
from sido.train.run import Run
from sido.train.state import Best, TrainingState
from sido.train.validation import validation_loss

__all__ = ["Loop", "Standing", "StopAsked", "TrainingProgress"]


class Standing(NamedTuple):
    """How far a run is."""

    step: int
    steps: int
    loss: float | None
    """The mean over the updates since the metrics were last written."""
    validation_loss: float | None
    samples_per_s: float
    left_s: float


TrainingProgress = Callable[[Standing], None]
StopAsked = Callable[[], bool]


@final
@dataclass
class Loop:
    """One go at a run, from where its state is."""

    run: Run
    data: TrainingData
    state: TrainingState
    steps: int
    device: torch.device
    team: Team
    logger: Logger
    progress: TrainingProgress
    stop: StopAsked
    rollouts: Rollouts | None = None

    def __post_init__(self) -> None:
        self._config = self.run.config
        self._order = Order(len(self.data.train), self._config.batch_size, self._config.seed)
        self._parts = self.team.share(self._config.parts)
        augmentation, train = self._config.augmentation, self.data.train
        self._augment = augmentation and augmentation.bound_to(
            self.data.train_names, train.numbers["actions"], train.action_spec
        )
        self._unread: list[Tensor] = []  # losses that the device has and this process has not seen
        self._norm = torch.zeros(())
        self._validation_loss: float | None = None
        self._clock = _Clock(self.run.clock, self.state.step, self._config.batch_size * self._config.draws)

    def go_on(self) -> bool:
        """Train until the end, or until somebody asks to stop; whether it is the end.

        Raises:
            SidoError: the loss is no number; a checkpoint cannot be saved. The last one is kept.
        """
        state, config = self.state, self._config
        state.policy.train()
        for parts in ahead(self._gather, range(state.step, self.steps), config.loaders):
            asked = self._update(parts)
            ended = state.step == self.steps
            measured = self._measure(ended)
            if measured and self.team.leads:
                self._note(measured)
                self.logger.log(state.step, measured | {"samples_per_s": self._clock.rate(state.step)})
            if ended or asked or state.step % config.save_every == 0:
                self._save()
            if asked:
                return ended
        return True

    # --- an update

    def _gather(self, step: int) -> list[ChunkBatch]:
        """This process' parts of a batch, in memory from which a GPU can fetch them."""
        transitions = self._order.batch(step).chunk(self._config.parts)
        parts = [self.data.train.batch(transitions[part]) for part in self._parts]
        return [part.pin_memory() for part in parts] if self.device.type == "cuda" else parts

    def _update(self, parts: list[ChunkBatch]) -> bool:
        """Learn from a batch; whether any process of the team is asked to stop."""
        state, total = self.state, torch.zeros((), device=self.device)
        for part, batch in zip(self._parts, parts, strict=True):
            loss = self._loss(batch, part) / self._config.parts
            loss.backward()
            total += loss.detach()
        asked = self.team.anyone(self.stop(), self.device)
        self.team.add_up([*_gradients(state.optimiser.weights.values()), total])
        self._norm = state.optimiser.update(state.step)
        state.average.follow(state.step)
        state.step += 1
        self._unread.append(total)
        return asked

    def _loss(self, batch: ChunkBatch, part: int) -> Tensor:
        config, batch = self._config, batch.to(self.device)
        generator = generator_for("draws", config.seed, self.state.step, part)
        augment = self._augment
        draws = [batch if augment is None else augment(batch, generator) for _ in range(config.draws)]
        if config.off_centre is not None:
            draws = [config.off_centre(draw, generator) for draw in draws]
        with autocast(self.device, config.precision):
            return self.state.policy.loss(draws, generator)

    # --- what is kept of it

    def _measure(self, ended: bool) -> dict[str, float]:
        """What there is to write down after this update."""
        state, config = self.state, self._config
        measured: dict[str, float] = {}
        if ended or state.step % config.log_every == 0:
            self._read_losses()
            measured["loss"] = math.fsum(state.losses) / len(state.losses)
            measured["learning_rate"] = state.optimiser.learning_rate(state.step - 1)
            measured["gradient_norm"] = float(self._norm)
            state.losses = []
        if self.data.validation is not None and (ended or state.step % config.validate_every == 0):
            self._read_losses()
            measured["validation_loss"] = self._validate()
        if self.rollouts is not None and self.team.leads and self.rollouts.due(state.step, ended):
            self._read_losses()
            measured |= {f"rollouts.{name}": value for name, value in self.rollouts.play(state.average.policy).items()}
        if measured:
            self.progress(self._standing(measured.get("loss")))
        return measured

    def _read_losses(self) -> None:
        """Fetch the losses from the device; the run ends at the first that is no number."""
        losses = torch.stack(self._unread).tolist() if self._unread else []
        first = self.state.step - len(losses)
        self._unread = []
        for step, loss in enumerate(losses, start=first):
            if not math.isfinite(loss):
                raise self._failure(step, loss)
        self.state.losses += losses

    def _validate(self) -> float:
        assert self.data.validation is not None
        with autocast(self.device, self._config.precision):
            loss = validation_loss(self.state.average.policy, self.data.validation, self._config, self.device)
        self._validation_loss = loss
        if self.state.best is None or loss < self.state.best.validation_loss:
            self.state.best = Best(self.state.step, loss)
            if self.team.leads:
                self._keep(self.run.save_best, self.state)
        return loss

    def _save(self) -> None:
        self._read_losses()
        if self.team.leads:
            self._keep(self.run.save_last, self.state, self._clock.told(self.state.step, self.device))

    def _keep(self, save: Callable[..., None], *what: Any) -> None:
        try:
            save(*what)
        except (OSError, SafetensorError) as error:  # safetensors has an error of its own for a full disk
            raise SidoError(
                "a checkpoint cannot be saved; the one before is whole",
                file=self.run.folder,
                found=error,
                fix=f"make room, then sido train --resume {self.run.folder}",
            ) from error

    def _note(self, measured: Mapping[str, float]) -> None:
        try:
            self.run.metrics.write(self.state.step, measured)
        except OSError as error:
            raise SidoError(
                "what was measured cannot be written; the last checkpoint is whole",
                file=self.run.folder / "metrics.jsonl",
                found=error,
                fix=f"make room, then sido train --resume {self.run.folder}",
            ) from error

    def _standing(self, loss: float | None) -> Standing:
        step = self.state.step
        rate = self._clock.rate(step)
        left_s = (self.steps - step) * self._clock.samples / rate if rate else math.inf
        return Standing(step, self.steps, loss, self._validation_loss, rate, left_s)

    def _failure(self, step: int, loss: float) -> DataError:
        """The error that names the batch; all of its transitions go into a file."""
        names, sampler = self.data.train_names, self.data.train
        batch = sampler.batch(self._order.batch(step))
        transitions = [
            (names[demo], at) for demo, at in zip(batch.demo_index.tolist(), batch.step.tolist(), strict=True)
        ]
        file = self.run.folder / "failure.json"
        if self.team.leads:
            document = {"step": step, "loss": str(loss), "transitions": transitions}
            file.write_text(json.dumps(document))
        shown = ", ".join(f"{name} step {at}" for name, at in transitions[:3])
        kept = (
            f"the checkpoint after {self._kept_step()} updates is whole" if self.run.last.exists() else "none is kept"
        )
        return DataError(
            f"the loss is not a number; {kept}",
            file=self.run.folder,
            found=f"{loss} in update {step}, of the batch {shown}, ...",
            expected="a finite loss",
            fix=f"look at the batch in {file}, or begin again with a lower learning rate",
        )

    def _kept_step(self) -> int:
        return int(json.loads((self.run.last / "training.json").read_text())["step"])


def _gradients(weights: Iterable[nn.Parameter]) -> list[Tensor]:
    return [weight.grad for weight in weights if weight.grad is not None]


def autocast(device: torch.device, precision: str) -> Any:
    """Mixed precision, if it is asked for."""
    return torch.autocast(device.type, torch.bfloat16) if precision == "bfloat16" else nullcontext()


@final
class _Clock:
    """How long a run takes, all goes at it together."""

    def __init__(self, before: Mapping[str, Any], step: int, samples: int) -> None:
        self.samples = samples
        """Of an update."""
        self._before_s, self._first = float(before.get("elapsed_s", 0.0)), step
        self._began = time.monotonic()

    def rate(self, step: int) -> float:
        """Samples a second, in this go."""
        return (step - self._first) * self.samples / max(time.monotonic() - self._began, 1e-9)

    def told(self, step: int, device: torch.device) -> dict[str, Any]:
        """For `clock.json`."""
        name = torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu"
        elapsed_s = self._before_s + time.monotonic() - self._began
        return {"elapsed_s": round(elapsed_s, 3), "samples_per_s": round(self.rate(step), 1), "device": name}
