"""The paper's policies by name, at the paper's scale and at a laptop's.

| name | pose channel | trained on |
|---|---|---|
| `dp`, `equidp` | none | the demonstrations |
| `dp-current-pose`, `equidp-current-pose` | where the object is | the demonstrations |
| `dp-sido`, `equidp-sido` | where the object will be | the demonstrations and their counterfactuals |

The three of a class differ in nothing else: the same network, as many updates, the same ranges of positions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, final

from sido.augment import Counterfactual
from sido.errors import SettingError
from sido.policies import (
    CameraConfig,
    DiffusionConfig,
    DiffusionPolicyConfig,
    DinoV3Config,
    EquivariantPolicyConfig,
    FlowMatchingConfig,
    MlpConfig,
    ObservationConfig,
    PolicyConfig,
    PoseChannel,
    ResNet18Config,
    SmallCnnConfig,
    UnetConfig,
)
from sido.policies.config import DenoiserConfig, EncoderConfig, ProcessConfig
from sido.train.config import AdamWConfig, AverageConfig, DataConfig, TrainConfig
from sido.train.duration import DemoEpochs, Duration, Epochs, Steps
from sido.train.fitted import Fitted

__all__ = ["METHODS", "RECIPES", "Method", "PolicyClass", "Recipe", "Scale", "Sight", "preset"]

PolicyClass = Literal["dp", "equidp"]
Sight = Literal["state", "image"]
Scale = Literal["cpu", "paper"]


@final
@dataclass(frozen=True)
class Method:
    """A rung of the paper's ladder, for one class of policies."""

    policy: PolicyClass
    pose_channel: PoseChannel
    counterfactuals: bool = False


METHODS: dict[str, Method] = {
    "dp": Method("dp", "none"),
    "dp-current-pose": Method("dp", "current"),
    "dp-sido": Method("dp", "future", counterfactuals=True),
    "equidp": Method("equidp", "none"),
    "equidp-current-pose": Method("equidp", "current"),
    "equidp-sido": Method("equidp", "future", counterfactuals=True),
}


@final
@dataclass(frozen=True)
class Recipe:
    """All that a class of policies, its sight and its scale decide."""

    duration: Duration
    batch_size: int
    denoiser: DenoiserConfig
    process: ProcessConfig
    encoder: EncoderConfig | None = None
    """Of all cameras; an equivariant policy's, of those that move with the hand."""
    observation_steps: int = 2
    offset_features: bool = False
    goals_from_hand: bool = False
    landmarks: Literal["told", "spotted", "unknown"] = "told"
    """Whether it is told where the other things are, learns to read it off its images, or sees them and no more."""
    draws: int = 1
    optimiser: AdamWConfig = field(default_factory=AdamWConfig)
    average: AverageConfig = field(default_factory=AverageConfig)
    precision: Literal["float32", "bfloat16"] = "float32"
    validation_share: float = 0.05
    crop: int = 76
    """Of an equivariant policy's images: side of the square, pixels."""
    fields: int = 128
    """Of an equivariant policy, as the next."""
    action_fields: int = 64


_LAPTOP_RATE = AdamWConfig(learning_rate=1e-3, betas=(0.9, 0.999), weight_decay=1e-4, longest_gradient=1.0)

RECIPES: dict[tuple[PolicyClass, Sight, Scale], Recipe] = {
    # Laptops: docs/training.md has what was measured.
    ("dp", "state", "cpu"): Recipe(
        Steps(12_000), 128, MlpConfig(256, 3), FlowMatchingConfig(6),
        observation_steps=1, goals_from_hand=True, offset_features=True, optimiser=_LAPTOP_RATE,
    ),
    ("dp", "image", "cpu"): Recipe(
        Steps(20_000), 32, MlpConfig(256, 3), FlowMatchingConfig(6), SmallCnnConfig((16, 32, 32), 64, keypoints=32),
        observation_steps=1, goals_from_hand=True, offset_features=True, landmarks="spotted", draws=8,
        optimiser=_LAPTOP_RATE, precision="bfloat16",
    ),
    ("equidp", "state", "cpu"): Recipe(
        Steps(6000), 64, MlpConfig(128, 3), FlowMatchingConfig(6), observation_steps=1, goals_from_hand=True,
        offset_features=True, optimiser=_LAPTOP_RATE, fields=32, action_fields=16,
    ),
    ("equidp", "image", "cpu"): Recipe(
        Steps(6000), 64, MlpConfig(128, 3), FlowMatchingConfig(6), SmallCnnConfig((16, 32, 64), 64),
        observation_steps=1, goals_from_hand=True, landmarks="unknown", draws=4, optimiser=_LAPTOP_RATE,
        fields=32, action_fields=16, crop=58,
    ),
    # Diffusion Policy's own: its low-dimensional configuration, and its image one with the paper's encoder.
    ("dp", "state", "paper"): Recipe(
        Epochs(5000), 256, UnetConfig((256, 512, 1024)), DiffusionConfig(), validation_share=0.02
    ),
    ("dp", "image", "paper"): Recipe(
        Epochs(3050), 64, UnetConfig(), DiffusionConfig(), DinoV3Config(trained=True), landmarks="unknown",
        validation_share=0.02,
    ),
    # equidiff's own.
    ("equidp", "state", "paper"): Recipe(
        DemoEpochs(50_000), 128, UnetConfig(), DiffusionConfig(), validation_share=0.02
    ),
    ("equidp", "image", "paper"): Recipe(
        DemoEpochs(50_000), 128, UnetConfig(), DiffusionConfig(), ResNet18Config(64, normalised=False),
        landmarks="unknown",
        validation_share=0.02,
    ),
}  # fmt: skip

_ON_THE_HAND = ("hand", "wrist", "gripper")


def preset(name: str, data: DataConfig, fitted: Fitted, *, sight: Sight = "state", scale: Scale = "cpu") -> TrainConfig:
    """The run that a name stands for, on these demonstrations.

    Raises:
        SettingError: no such preset, or none that sees what the data have.
    """
    if name not in METHODS:
        raise SettingError("unknown preset", found=repr(name), expected=f"one of {', '.join(METHODS)}")
    method = METHODS[name]
    recipe = RECIPES[method.policy, sight, scale]
    if (sight == "image") != bool(fitted.cameras):
        raise SettingError("a policy from images has cameras, one from state none", found=fitted.cameras)
    return TrainConfig(
        data=data,
        policy=_policy(method, recipe, fitted),
        augmentation=Counterfactual() if method.counterfactuals else None,
        batch_size=recipe.batch_size,
        draws=recipe.draws,
        duration=recipe.duration,
        optimiser=recipe.optimiser,
        average=recipe.average,
        precision=recipe.precision,
        validation_share=recipe.validation_share,
    )


def _policy(method: Method, recipe: Recipe, fitted: Fitted) -> PolicyConfig:
    observation = ObservationConfig(
        method.pose_channel,
        recipe.observation_steps,
        fitted.cameras,
        fitted.gripper_joints,
        fitted.landmarks if recipe.landmarks == "told" else (),
        recipe.offset_features,
        fitted.landmarks if recipe.landmarks == "spotted" else (),
    )
    if method.policy == "dp":
        return DiffusionPolicyConfig(
            observation, recipe.encoder, recipe.denoiser, recipe.process, goals_from_hand=recipe.goals_from_hand
        )
    if isinstance(recipe.encoder, DinoV3Config):
        raise SettingError("an equivariant policy's encoder of the hand's cameras is a CNN", found="DINOv3")
    turned, others = _turned_camera(fitted.cameras)
    return EquivariantPolicyConfig(
        observation,
        turned_camera=turned,
        crop=recipe.crop,
        fields=recipe.fields,
        wrist_encoder=recipe.encoder if others else None,
        action_fields=recipe.action_fields,
        denoiser=recipe.denoiser,
        process=recipe.process,
        goals_from_hand=recipe.goals_from_hand,
    )


def _turned_camera(cameras: tuple[CameraConfig, ...]) -> tuple[str | None, tuple[str, ...]]:
    """The camera that does not move with the hand, and those that do, by their names."""
    on_the_hand = tuple(camera.name for camera in cameras if any(word in camera.name for word in _ON_THE_HAND))
    still = [camera.name for camera in cameras if camera.name not in on_the_hand]
    if len(still) > 1:
        raise SettingError(
            "an equivariant policy looks down at the workspace with one camera",
            field="cameras",
            found=still,
            fix="choose one with --cameras",
        )
    return (still[0] if still else None), on_the_hand
