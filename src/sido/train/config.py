"""All that decides what a run makes, as frozen data: kept in the run's folder, from which it goes on."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, final

from sido.augment import CachedCounterfactual, Counterfactual, OffCentre
from sido.errors import SettingError
from sido.policies import PolicyConfig, read_settings, write_settings
from sido.train.duration import Duration, Steps

__all__ = ["AdamWConfig", "AverageConfig", "DataConfig", "TrainConfig"]


@final
@dataclass(frozen=True)
class DataConfig:
    """Which demonstrations, and how to read them where their files leave that open."""

    kind: ClassVar[str] = "data"
    path: str
    filter_key: str | None = None
    """Only those that the file groups under this name."""
    demos: int | None = None
    """Only the first so many."""
    actions: Literal["absolute", "as-recorded"] = "absolute"
    """Relative OSC actions are made absolute (docs/conventions.md says why), or taken as they are."""
    object_key: str | None = None
    object_name: str | None = None
    action_spec: str | None = None
    """As in `sido.demos.Hints`; the action spec by its name or as JSON."""

    def __post_init__(self) -> None:
        _require_one_of("DataConfig.actions", self.actions, ("absolute", "as-recorded"))
        if self.demos is not None:
            _require("DataConfig.demos", self.demos, self.demos >= 1, "1 or more")


@final
@dataclass(frozen=True)
class AdamWConfig:
    """AdamW, its learning rate warmed up along a line and let down along a cosine."""

    kind: ClassVar[str] = "adamw"
    learning_rate: float = 1e-4
    betas: tuple[float, ...] = (0.95, 0.999)
    epsilon: float = 1e-8
    weight_decay: float = 1e-6
    warmup_steps: int = 500
    longest_gradient: float | None = None
    """Longer gradients are scaled down to this norm; None leaves them as they are, like the originals."""

    def __post_init__(self) -> None:
        for name in ("learning_rate", "epsilon", "longest_gradient"):
            value = getattr(self, name)
            if value is not None:
                _require(f"AdamWConfig.{name}", value, 0 < value < math.inf, "a finite number above 0")
        _require("AdamWConfig.weight_decay", self.weight_decay, 0 <= self.weight_decay < 1, "0 to 1")
        _require("AdamWConfig.warmup_steps", self.warmup_steps, self.warmup_steps >= 0, "0 or more")
        usable = len(self.betas) == 2 and all(0 <= beta < 1 for beta in self.betas)
        _require("AdamWConfig.betas", self.betas, usable, "two numbers from 0 to below 1")


@final
@dataclass(frozen=True)
class AverageConfig:
    """The weights' moving average, which is what gets deployed: `decay = 1 - (1 + n / inverse_gamma)^-power`."""

    kind: ClassVar[str] = "average"
    power: float = 0.75
    inverse_gamma: float = 1.0
    largest_decay: float = 0.9999

    def __post_init__(self) -> None:
        for name in ("power", "inverse_gamma"):
            value = getattr(self, name)
            _require(f"AverageConfig.{name}", value, 0 < value < math.inf, "a finite number above 0")
        _require("AverageConfig.largest_decay", self.largest_decay, 0 <= self.largest_decay < 1, "0 to below 1")


@final
@dataclass(frozen=True)
class TrainConfig:
    """A run. The same config, data and versions give the same weights, bit for bit, on a CPU."""

    kind: ClassVar[str] = "train"
    data: DataConfig
    policy: PolicyConfig
    augmentation: Counterfactual | CachedCounterfactual | None = None
    """None trains on the demonstrations as they are."""
    off_centre: OffCentre | None = None
    """Show objects held off their middle. Beyond the paper; docs/training.md says what it brings, and costs."""
    reach_m: float = 0.016
    """By how much more than the data, in x and y, the policy's ranges of positions reach: at least as far as
    counterfactuals go. Give policies that are to be compared the same (`Statistics.fit`)."""
    action_horizon: int = 8
    """`T_a`: chunks hang over the end of a demonstration by at most `T_a - 1` actions."""
    batch_size: int = 128
    """Transitions that an update learns from, all processes together."""
    draws: int = 1
    """Draws of noise and counterfactuals for each transition: its images are encoded once for all of them."""
    parts: int = 1
    """In how many equal parts a batch is worked through, each with noise of its own. Processes share the parts out, so
    that a run of two parts is the same run on one process and on two."""
    duration: Duration = field(default_factory=lambda: Steps(8000))
    optimiser: AdamWConfig = field(default_factory=AdamWConfig)
    average: AverageConfig = field(default_factory=AverageConfig)
    precision: Literal["float32", "bfloat16"] = "float32"
    """bfloat16 computes the loss in mixed precision; weights are float32 either way."""
    seed: int = 0
    validation_share: float = 0.05
    """The share of demonstrations that are held out, the same ones for every seed, and never augmented."""
    log_every: int = 100
    """In steps, as the next two."""
    validate_every: int = 500
    save_every: int = 500
    loaders: int = 0
    """Threads that gather the batches to come; 0 gathers each when its turn has come."""
    threads: int = 1
    """Threads within torch's operations, for each process. Two on a busy machine of two cores can be many times slower
    than one (docs/training.md)."""

    def __post_init__(self) -> None:
        for name in ("batch_size", "draws", "parts", "log_every", "validate_every", "save_every", "threads"):
            _require(name, getattr(self, name), getattr(self, name) >= 1, "1 or more")
        _require("loaders", self.loaders, self.loaders >= 0, "0 or more")
        _require("seed", self.seed, 0 <= self.seed < 2**62, "0 or more, below 2^62")
        _require("validation_share", self.validation_share, 0 <= self.validation_share <= 0.5, "0 to 0.5")
        _require_one_of("precision", self.precision, ("float32", "bfloat16"))
        if self.batch_size % self.parts:
            _require("parts", self.parts, False, f"a divisor of batch_size = {self.batch_size}")
        horizon = self.policy.prediction_horizon
        _require("action_horizon", self.action_horizon, 1 <= self.action_horizon <= horizon, f"1 to T_p = {horizon}")
        self._check_augmentation()

    def _check_augmentation(self) -> None:
        augmentation = self.augmentation
        longest_m = 0.0 if augmentation is None else augmentation.longest_m
        _require("reach_m", self.reach_m, longest_m <= self.reach_m < math.inf, f"{longest_m:g} or more, and finite")
        if augmentation is None:
            return
        if self.policy.observation.pose_channel == "none":
            raise SettingError(
                "counterfactuals are told through the pose channel, which the policy has not",
                field="policy.observation.pose_channel",
                found="'none'",
                expected="'current' or 'future'",
                fix="give the policy the channel, or train without augmentation",
            )
        for name, mine in (
            ("prediction_horizon", self.policy.prediction_horizon),
            ("action_horizon", self.action_horizon),
        ):
            found = getattr(augmentation, name)
            _require(f"augmentation.{name}", found, found == mine, f"{mine}, as the policy is trained")

    def to_json(self) -> str:
        return write_settings(self)

    @classmethod
    def from_json(cls, text: str | bytes, *, place: str = "config") -> TrainConfig:
        """Read what `to_json` wrote."""
        return read_settings(cls, text, place=place)


def _require(name: str, found: Any, holds: bool, expected: str) -> None:
    if not holds:
        raise SettingError("cannot be used", field=name, found=found, expected=expected)


def _require_one_of(name: str, found: str, choices: tuple[str, ...]) -> None:
    _require(name, repr(found), found in choices, f"one of {', '.join(choices)}")
