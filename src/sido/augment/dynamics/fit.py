"""Fitting `f_psi` to demonstrations."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple, final

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from sido.arrays import Array
from sido.augment.dynamics.model import DynamicsModel
from sido.augment.dynamics.motion import RobotMotion
from sido.augment.one_thread import one_thread
from sido.demos.action_spec import ActionSpec
from sido.errors import DataError, SettingError

__all__ = ["FitSettings", "fit_dynamics"]

FitProgress = Callable[[int, int], None]


@final
@dataclass(frozen=True)
class FitSettings:
    """How the model is fitted: a ridge regression, then the network on what that leaves, then on whole chunks."""

    kind: ClassVar[str] = "dynamics-fit"
    width: int = 8
    """Of the hidden layers."""
    transitions: Literal["pre-grasp", "all"] = "pre-grasp"
    """Those before the grasp, as the paper has it, or all: the arm is the same, its motion more varied."""
    horizon: int = 16
    """Steps of the open-loop rollouts that the last epochs fit."""
    one_step_updates: int = 1000
    rollout_updates: int = 1600
    batch_size: int = 256
    """Transitions, or rollouts, that an update learns from; all, where there are fewer."""
    learning_rate: float = 3e-3
    weight_decay: float = 1e-2
    ridge: float = 1e-2
    squash: float = 2.0
    """The network's inputs saturate at so many standard deviations from their mean."""
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("width", "horizon", "batch_size"):
            self._require(name, getattr(self, name) >= 1, "1 or more")
        for name in ("one_step_updates", "rollout_updates", "seed"):
            self._require(name, getattr(self, name) >= 0, "0 or more")
        for name in ("learning_rate", "ridge", "squash"):
            self._require(name, 0 < getattr(self, name) < math.inf, "a finite number above 0")
        self._require("weight_decay", 0 <= self.weight_decay < math.inf, "0 or more")
        self._require("transitions", self.transitions in ("pre-grasp", "all"), "pre-grasp or all")

    def _require(self, name: str, holds: bool, expected: str) -> None:
        if not holds:
            raise SettingError(
                "cannot be used", field=f"FitSettings.{name}", found=getattr(self, name), expected=expected
            )


def unheard(_done: int, _total: int) -> None:
    """The progress report that nobody listens to."""


def fit_dynamics(
    motions: Sequence[RobotMotion],
    action_spec: ActionSpec,
    settings: FitSettings = FitSettings(),
    progress: FitProgress = unheard,
) -> DynamicsModel:
    """The model of these motions, in float32 on the CPU; the same motions and settings give the same one.

    Raises:
        DataError: too few transitions, or grippers that differ.
    """
    states, commands, changes = _transitions(motions, settings)
    gripper_joints = len(states) - 15
    with torch.random.fork_rng(devices=[]):  # layers draw from the global generator
        torch.manual_seed(settings.seed)
        model = DynamicsModel(action_spec, gripper_joints, settings.width)
    rng = torch.Generator().manual_seed(settings.seed)
    with torch.no_grad():
        inputs = model.inputs(states, commands)
        noise = _begin(model, inputs, changes, settings)
    starts, told, led = _windows(motions, settings)

    def one_step(rows: Tensor) -> Tensor:
        return (((model.change(inputs[:, rows]) - changes[:, rows]) / noise) ** 2).mean()

    def open_loop(rows: Tensor) -> Tensor:
        rolled = model.rollout(starts[:, rows], told[:, :, rows])
        some = torch.randint(inputs.shape[1], (len(rows),), generator=rng)
        return ((1e3 * (rolled[:, :3] - led[:, :, rows])) ** 2).mean() + one_step(some)

    stages = (
        _Stage(one_step, inputs.shape[1], settings.one_step_updates, settings.learning_rate),
        _Stage(open_loop, starts.shape[1], settings.rollout_updates, settings.learning_rate / 3),
    )
    with one_thread():
        _train(model, stages, settings, rng, progress)
    return model.requires_grad_(False)


def _begin(model: DynamicsModel, inputs: Tensor, changes: Tensor, settings: FitSettings) -> Float[Tensor, "D 1"]:
    """Set the linear part by ridge regression, and the network to nothing; what the linear part leaves, as a scale."""
    centre, spread = inputs.mean(1, keepdim=True), inputs.std(1, keepdim=True)
    varies = spread > 1e-6
    spread = torch.where(varies, spread, 1.0)
    model.centre.copy_(centre)
    model.range.copy_(spread * (settings.squash / 2))  # 2 sigmoid(2 z / c) - 1 = tanh(z / c)
    linear = slice(model.predicted, -1)  # velocity, acceleration, position and rotation commands
    x = torch.where(varies, (inputs - centre) / spread, 0.0)[linear].double()
    x = torch.cat([x, torch.ones(1, x.shape[1], dtype=x.dtype)])
    penalty = settings.ridge * torch.eye(len(x), dtype=x.dtype)
    weights = torch.linalg.solve(x @ x.T + penalty, x @ changes.double().T).T.to(inputs.dtype)
    slope = weights[:, :-1] / spread[linear, 0]
    model.slope.copy_(slope)
    model.offset.copy_(weights[:, -1:] - slope @ centre[linear])
    model.third.weight.zero_()
    model.third.bias.zero_()
    left = changes - (slope @ inputs[linear] + model.offset)
    return left.std(1, keepdim=True).clamp(min=1e-6)


class _Stage(NamedTuple):
    """A part of the training."""

    loss: Callable[[Tensor], Tensor]
    """Of samples, by their numbers."""
    samples: int
    updates: int
    learning_rate: float


def _train(
    model: DynamicsModel,
    stages: Sequence[_Stage],
    settings: FitSettings,
    rng: torch.Generator,
    progress: FitProgress,
) -> None:
    """AdamW on the network, its rate let down along a cosine; the linear part stays."""
    weights = [weight for layer in (model.first, model.second, model.third) for weight in layer.parameters()]
    done, total = 0, sum(stage.updates for stage in stages)
    for stage in stages:
        optimiser = torch.optim.AdamW(weights, stage.learning_rate, weight_decay=settings.weight_decay)
        for update in range(stage.updates):
            for group in optimiser.param_groups:
                group["lr"] = stage.learning_rate * 0.5 * (1 + math.cos(math.pi * update / stage.updates))
            rows = torch.randint(stage.samples, (min(settings.batch_size, stage.samples),), generator=rng)
            optimiser.zero_grad()
            stage.loss(rows).backward()
            optimiser.step()
            done += 1
            progress(done, total)


def _transitions(motions: Sequence[RobotMotion], settings: FitSettings) -> tuple[Tensor, Tensor, Tensor]:
    """States, commands, and by how much `[p, omega, g]` changed; one column a transition."""
    widths = {motion.states.shape[1] for motion in motions}
    steps = sum(_steps(motion, settings) for motion in motions)
    if len(widths) != 1 or steps < 2 * settings.horizon:
        raise DataError(
            "cannot fit the robot's dynamics",
            field="transitions",
            found=f"{steps} of {len(motions)} demonstrations, states of {sorted(widths)} numbers",
            expected=f"{2 * settings.horizon} or more, all of one robot",
            fix="see `sido inspect` for the grasp indices",
        )
    states = np.concatenate([motion.states[: _steps(motion, settings)] for motion in motions])
    after = np.concatenate([motion.states[1 : _steps(motion, settings) + 1] for motion in motions])
    commands = np.concatenate([motion.commands[: _steps(motion, settings)] for motion in motions])
    return _columns(states), _columns(commands), _columns((after - states)[:, :-6])


def _windows(motions: Sequence[RobotMotion], settings: FitSettings) -> tuple[Tensor, Tensor, Tensor]:
    """Where rollouts begin `[S, N]`, what they are told `[H, C, N]`, and where the hand went `[H, 3, N]`."""
    horizon = settings.horizon
    starts, told, led = [], [], []
    for motion in motions:
        for start in range(max(_steps(motion, settings) - horizon + 1, 0)):
            starts.append(motion.states[start])
            told.append(motion.commands[start : start + horizon])
            led.append(motion.states[start + 1 : start + horizon + 1, :3])
    if not starts:
        raise DataError(
            "no demonstration is long enough for a rollout",
            field="transitions",
            expected=f"{horizon} steps before the grasp",
            fix="choose a shorter horizon",
        )
    shaped = [torch.from_numpy(np.stack(rows)).float() for rows in (starts, told, led)]
    return shaped[0].T.contiguous(), shaped[1].permute(1, 2, 0).contiguous(), shaped[2].permute(1, 2, 0).contiguous()


def _steps(motion: RobotMotion, settings: FitSettings) -> int:
    return motion.steps if settings.transitions == "pre-grasp" else len(motion.states) - 1


def _columns(rows: Array) -> Tensor:
    return torch.from_numpy(rows).float().T.contiguous()
