"""What of a preset a person may change on the command line."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from sido.errors import SettingError

if TYPE_CHECKING:
    from sido.train import DataConfig, TrainConfig

__all__ = ["ConfigOptions", "DataOptions"]


@dataclass(frozen=True)
class DataOptions:
    """Which demonstrations, and how to read the dataset, where its files leave that open."""

    demos: int | None = None
    """Only the first so many."""
    actions: Literal["absolute", "as-recorded"] = "absolute"
    """Make relative OSC actions absolute first (the default of sido), or take actions as recorded."""
    filter_key: str | None = None
    """Only the demonstrations that the file groups under this name (robomimic's masks: train, valid)."""
    object_key: str | None = None
    """The recorded array whose first three numbers are the object's position, for example obs/object; or grasp, to
    take it to be where the hand closes."""
    object_name: str | None = None
    """Which object is grasped, where the dataset annotates several: cubeA."""
    action_spec: str | None = None
    """What actions mean: osc-delta, osc-absolute, rot6d-absolute, droid, or a JSON object of ActionSpec's fields."""

    def config(self, path: str) -> DataConfig:
        """The same, of the dataset at `path`."""
        from sido.train import DataConfig

        return DataConfig(path=path, **dataclasses.asdict(self))


@dataclass(frozen=True)
class ConfigOptions:
    """What to change of the preset; what is not given stays as it is there."""

    steps: int | None = None
    """Updates of the weights."""
    batch_size: int | None = None
    """Transitions that an update learns from, all processes together."""
    draws: int | None = None
    """Draws of noise and counterfactuals for each transition: its images are encoded once for all of them."""
    parts: int | None = None
    """In how many equal parts a batch is worked through; with torchrun, by default one for each process."""
    learning_rate: float | None = None
    """The highest, after the warm-up."""
    precision: Literal["float32", "bfloat16"] | None = None
    """bfloat16 computes the loss in mixed precision."""
    observation_steps: int | None = None
    """How many steps the policy sees: 1, or 2 with the one before."""
    offset_features: bool | None = None
    """Whether the policy is also told the way from the hand to each position."""
    landmarks: tuple[str, ...] | None = None
    """Whose positions the policy is told, besides the grasped object's."""
    spotted: tuple[str, ...] | None = None
    """Whose positions it learns to read off the images instead; told in training only."""
    step_speed_m: float | None = None
    """v of the counterfactuals, in metres a control step; 0.001 is 2 cm/s at 20 Hz. Give policies that are to be
    compared the same, those without counterfactuals, too: positions are normalised for as far as v T_p."""
    vary_length: bool = False
    """Draw displacements of any length up to v T_p, rather than v T_p each time."""
    off_centre: bool | None = None
    """Whether to show objects held off their middle, as moving ones are grasped."""
    static_ratio: float | None = None
    """alpha: the share of eligible samples that stay as demonstrated."""
    generator: Literal["heuristic", "mppi", "gauss-newton"] | None = None
    """Train on chunks that are generated beforehand, as `sido augment --generator` does: mppi is the paper's DynaSIDO,
    gauss-newton a faster one."""
    cache: Path | None = None
    """The folder of these chunks, made if it is not there; by default the dataset's name, then .GENERATOR.cache."""
    validation_share: float | None = None
    """The share of demonstrations that are held out."""
    log_every: int | None = None
    """In updates, as the next two."""
    validate_every: int | None = None
    save_every: int | None = None
    loaders: int | None = None
    """Threads that gather the batches to come; 0 gathers each when its turn has come."""
    threads: int | None = None
    """Threads within torch's operations, for each process."""

    def applied(self, config: TrainConfig) -> TrainConfig:
        """The config with these changes."""
        from sido.augment import OffCentre
        from sido.train import Steps

        observation = self._some("observation_steps", "offset_features", "landmarks", "spotted")
        optimiser = self._some("learning_rate")
        changes = self._some(
            "batch_size", "draws", "parts", "precision", "validation_share", "log_every", "validate_every",
            "save_every", "loaders", "threads",
        )  # fmt: skip
        if self.off_centre is not None:
            changes["off_centre"] = OffCentre() if self.off_centre else None
        policy = config.policy
        if observation:
            policy = dataclasses.replace(policy, observation=dataclasses.replace(policy.observation, **observation))
        if self.steps is not None:
            changes["duration"] = Steps(self.steps)
        return dataclasses.replace(
            config,
            policy=policy,
            optimiser=dataclasses.replace(config.optimiser, **optimiser),
            **self._counterfactuals(config),
            **changes,
        )

    def _counterfactuals(self, config: TrainConfig) -> dict[str, Any]:
        from sido.augment import CachedCounterfactual, UniformLength

        augmentation, reach_m = config.augmentation, config.reach_m
        if self.step_speed_m is not None:
            reach_m = self.step_speed_m * config.policy.prediction_horizon
        if augmentation is None:
            for name in ("vary_length", "static_ratio"):
                if getattr(self, name) not in (None, False):
                    raise SettingError(
                        "this preset has no counterfactuals", field=f"--{name.replace('_', '-')}", fix="choose a -sido"
                    )
            return {"reach_m": reach_m}
        if isinstance(augmentation, CachedCounterfactual):
            if self.step_speed_m is not None or self.vary_length:
                raise SettingError("the chunks were generated for another speed", field="--step-speed-m", fix="--cache")
            return {"augmentation": dataclasses.replace(augmentation, **self._some("static_ratio"))}
        changes = self._some("step_speed_m", "static_ratio")
        if self.vary_length:
            changes["length"] = UniformLength()
        return {"reach_m": reach_m, "augmentation": dataclasses.replace(augmentation, **changes)}

    def _some(self, *names: str) -> dict[str, Any]:
        """Those that were given."""
        return {name: value for name in names if (value := getattr(self, name)) is not None}
