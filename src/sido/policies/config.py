"""What a policy is made of, as frozen data: saved beside its weights, from which `build_policy` makes it again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from sido.errors import SettingError
from sido.policies.settings_json import read_settings, write_settings

__all__ = [
    "CameraConfig",
    "DenoiserConfig",
    "DiffusionConfig",
    "DiffusionPolicyConfig",
    "DinoV3Config",
    "EncoderConfig",
    "EquivariantPolicyConfig",
    "FlowMatchingConfig",
    "MlpConfig",
    "ObservationConfig",
    "PolicyConfig",
    "PoseChannel",
    "ProcessConfig",
    "ResNet18Config",
    "SmallCnnConfig",
    "UnetConfig",
    "policy_config_from_json",
]

PoseChannel = Literal["none", "current", "future"]
"""What the policy is told about the object's position: nothing; where it is; where it will be (SIDO).

The last two are one network: the setting says what deployment puts into the channel."""


@dataclass(frozen=True)
class CameraConfig:
    """A camera, and the size of the images that it must deliver."""

    kind: ClassVar[str] = "camera"
    name: str
    height: int
    width: int


@dataclass(frozen=True)
class ObservationConfig:
    """What a policy sees."""

    kind: ClassVar[str] = "observation"
    pose_channel: PoseChannel = "future"
    observation_steps: int = 2
    cameras: tuple[CameraConfig, ...] = ()
    gripper_joints: int = 2
    landmarks: tuple[str, ...] = ()
    """Further things whose positions are seen, by name ("cubeB"): `observations["landmark.cubeB"]`, metres."""
    offset_features: bool = True
    """Show the ways from the hand to each position, too, and from the object to each landmark: plain, and squashed by
    `tanh(way / 2 cm)` so that the last centimetres fill the range. Four times less training from state
    (docs/policies.md)."""
    spotted: tuple[str, ...] = ()
    """Landmarks that the policy is told in training only, to learn to read their positions off the images: at
    deployment its own readings stand in for them."""

    def __post_init__(self) -> None:
        _require_one_of("pose_channel", self.pose_channel, ("none", "current", "future"))
        _require_at_least(1, self, "observation_steps", "gripper_joints")
        for camera in self.cameras:
            _require_at_least(8, camera, "height", "width")
        names = [camera.name for camera in self.cameras]
        if len(set(names)) != len(names):
            raise SettingError("a camera is named twice", field="cameras", found=names)
        if twice := sorted(set(self.landmarks) & set(self.spotted)):
            raise SettingError("a landmark is either told or read off the images", field="spotted", found=twice)
        if self.spotted and not self.cameras:
            raise SettingError("positions are read off images", field="spotted", found=self.spotted, expected="cameras")


# --- encoders ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SmallCnnConfig:
    """Strided convolutions, and then a linear layer and LayerNorm, or keypoints: for laptops. One for each camera."""

    kind: ClassVar[str] = "small_cnn"
    channels: tuple[int, ...] = (16, 32, 64)
    features: int = 64
    keypoints: int | None = None
    """A spatial softmax over the last maps, which then keep their size, says where so many things are, and a linear
    layer what that means: what is learnt of some places in the image holds in the others (docs/policies.md)."""
    crop: int | None = None
    """Side of the square that is cut out of each image, pixels: at random in training, else from the middle."""

    def __post_init__(self) -> None:
        _require_at_least(1, self, "channels", "features", "keypoints", "crop")
        if self.keypoints is not None and not self.channels:
            raise SettingError("keypoints are found in feature maps", field="SmallCnnConfig.channels", found=())


@dataclass(frozen=True)
class ResNet18Config:
    """Diffusion Policy's: ResNet18 with GroupNorm and spatial softmax. One for each camera."""

    kind: ClassVar[str] = "resnet18"
    keypoints: int = 32
    crop: int | None = 76
    """Side of the square that is cut out of each image, pixels: at random in training, else from the middle."""
    normalised: bool = True
    """With GroupNorm; equidiff's encoder of the wrist's camera is without."""

    def __post_init__(self) -> None:
        _require_at_least(1, self, "keypoints", "crop")


@dataclass(frozen=True)
class DinoV3Config:
    """DINOv3 through `transformers`: one backbone for all cameras, one linear layer on each camera's CLS token."""

    kind: ClassVar[str] = "dinov3"
    weights: str = "facebook/dinov3-vits16-pretrain-lvd1689m"
    """A local folder, or a name on the Hub (whose weights are behind a licence to accept)."""
    trained: bool = False
    """Fine-tune the backbone, instead of freezing it."""
    image_size: int = 224
    """Side of the square that images are resized to, pixels: a multiple of the patch size, 16."""
    features: int = 64
    cached: bool = False
    """Keep what the frozen backbone makes of each training image: the second epoch is as fast as without images."""

    def __post_init__(self) -> None:
        _require_at_least(1, self, "image_size", "features")
        if self.cached and self.trained:
            raise SettingError(
                "what a backbone makes of an image changes while it is trained",
                field="DinoV3Config.cached",
                found=True,
                expected="False, or trained=False",
            )
        if self.image_size % 16:
            raise SettingError(
                "not a multiple of the patch size",
                field="DinoV3Config.image_size",
                found=self.image_size,
                expected="a multiple of 16",
            )


EncoderConfig = SmallCnnConfig | ResNet18Config | DinoV3Config


# --- denoisers --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MlpConfig:
    """A residual MLP on the whole chunk: for laptops."""

    kind: ClassVar[str] = "mlp"
    width: int = 256
    blocks: int = 3

    def __post_init__(self) -> None:
        _require_at_least(1, self, "width", "blocks")


@dataclass(frozen=True)
class UnetConfig:
    """Diffusion Policy's conditional 1-D U-Net, at its image configuration's size: 512, 1024, 2048 is 250 M weights."""

    kind: ClassVar[str] = "unet"
    widths: tuple[int, ...] = (512, 1024, 2048)
    """Channels at each resolution; each but the last halves the number of steps."""
    kernel_size: int = 5
    groups: int = 8
    time_features: int = 128

    def __post_init__(self) -> None:
        _require_at_least(1, self, "widths", "kernel_size", "groups")
        _require_at_least(4, self, "time_features")
        if not self.widths or any(width % self.groups for width in self.widths):
            raise SettingError(
                "not a multiple of the groups", field="UnetConfig.widths", found=self.widths, expected=self.groups
            )
        if self.kernel_size % 2 == 0 or self.time_features % 2:
            raise SettingError("the kernel must be odd and the time features even", field="UnetConfig")


DenoiserConfig = MlpConfig | UnetConfig


# --- processes --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FlowMatchingConfig:
    """Straight paths from noise to actions, followed in a few Euler steps."""

    kind: ClassVar[str] = "flow_matching"
    sampling_steps: int = 6

    def __post_init__(self) -> None:
        _require_at_least(1, self, "sampling_steps")


@dataclass(frozen=True)
class DiffusionConfig:
    """DDPM: cosine schedule, the network predicts the noise. Sampled as trained, or by DDIM in fewer steps."""

    kind: ClassVar[str] = "diffusion"
    sampler: Literal["ddpm", "ddim"] = "ddpm"
    train_steps: int = 100
    sampling_steps: int = 100

    def __post_init__(self) -> None:
        _require_one_of("sampler", self.sampler, ("ddpm", "ddim"))
        _require_at_least(1, self, "train_steps", "sampling_steps")
        if self.sampling_steps > self.train_steps:
            raise SettingError(
                "more steps than trained for",
                field="DiffusionConfig.sampling_steps",
                found=self.sampling_steps,
                expected=f"at most train_steps = {self.train_steps}",
            )


ProcessConfig = FlowMatchingConfig | DiffusionConfig


# --- policies ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DiffusionPolicyConfig:
    """Diffusion Policy: encoders and state make one vector, on which a denoiser of action chunks is conditioned."""

    kind: ClassVar[str] = "diffusion_policy"
    observation: ObservationConfig = field(default_factory=ObservationConfig)
    encoder: EncoderConfig | None = None
    """None without cameras."""
    denoiser: DenoiserConfig = field(default_factory=MlpConfig)
    process: ProcessConfig = field(default_factory=FlowMatchingConfig)
    prediction_horizon: int = 16
    goals_from_hand: bool = False
    """Let the network say absolute goals as ways from where the hand is when it plans: what it learns in one place of
    the workspace then holds in the others. Only the network's form: datasets, robots and counterfactuals see goals."""

    def __post_init__(self) -> None:
        _require_at_least(1, self, "prediction_horizon")
        _require_halvings(self.prediction_horizon, self.denoiser)
        if (self.encoder is None) != (not self.observation.cameras):
            raise SettingError(
                "cameras and an encoder go together",
                field="DiffusionPolicyConfig.encoder",
                found=f"{'no' if self.encoder is None else 'an'} encoder, {len(self.observation.cameras)} cameras",
            )

    def to_json(self) -> str:
        return write_settings(self)

    @classmethod
    def from_json(cls, text: str | bytes) -> DiffusionPolicyConfig:
        """Read what `to_json` wrote."""
        return read_settings(cls, text, place="policy")


@dataclass(frozen=True)
class EquivariantPolicyConfig:
    """Equivariant Diffusion Policy: turn the scene by an eighth about the vertical, and the actions turn with it."""

    kind: ClassVar[str] = "equivariant_policy"
    observation: ObservationConfig = field(default_factory=ObservationConfig)
    turned_camera: str | None = None
    """The camera that looks down at the workspace, whose image turns with the scene. The others (the wrist's) move
    with the hand, and see the same."""
    axis_m: tuple[float, ...] | None = None
    """The vertical about which the scene turns, x and y in metres in the base frame: it must stand in the middle of the
    turned camera's image. None: in the middle of the demonstrated positions, the goals among them."""
    crop: int = 76
    """Side of the square that is cut out of each image, pixels: at random in training, else from the middle."""
    fields: int = 128
    """Width of the state encoding, and of the image encoder's last layers: so many numbers for each of the 8 turns."""
    wrist_encoder: SmallCnnConfig | ResNet18Config | None = None
    """None without a camera on the wrist."""
    action_fields: int = 64
    denoiser: DenoiserConfig = field(default_factory=UnetConfig)
    """One, shared by the 8 turns."""
    process: ProcessConfig = field(default_factory=DiffusionConfig)
    prediction_horizon: int = 16
    goals_from_hand: bool = False
    """As in `DiffusionPolicyConfig`."""

    def __post_init__(self) -> None:
        _require_at_least(1, self, "prediction_horizon", "crop", "action_fields")
        _require_at_least(8, self, "fields")
        if self.observation.spotted:
            raise SettingError(
                "an equivariant policy reads no positions off its images",
                field="observation.spotted",
                found=self.observation.spotted,
                fix="leave them out, or train a diffusion policy",
            )
        if self.axis_m is not None and len(self.axis_m) != 2:
            raise SettingError("not a place in the plane", field="axis_m", found=self.axis_m, expected="x and y")
        _require_halvings(self.prediction_horizon, self.denoiser)
        names = [camera.name for camera in self.observation.cameras]
        others = [name for name in names if name != self.turned_camera]
        if self.turned_camera is not None and self.turned_camera not in names:
            raise SettingError("unknown camera", field="turned_camera", found=self.turned_camera, expected=names)
        if (self.wrist_encoder is None) != (not others):
            raise SettingError(
                "cameras that move with the hand and their encoder go together",
                field="EquivariantPolicyConfig.wrist_encoder",
                found=f"{'no' if self.wrist_encoder is None else 'an'} encoder, cameras {others}",
            )

    def to_json(self) -> str:
        return write_settings(self)

    @classmethod
    def from_json(cls, text: str | bytes) -> EquivariantPolicyConfig:
        """Read what `to_json` wrote."""
        return read_settings(cls, text, place="policy")


PolicyConfig = DiffusionPolicyConfig | EquivariantPolicyConfig


def policy_config_from_json(text: str | bytes) -> PolicyConfig:
    """Read what the `to_json` of either policy's config wrote."""
    return read_settings(PolicyConfig, text, place="policy")


def _require_one_of(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise SettingError("unknown value", field=name, found=repr(value), expected=f"one of {', '.join(choices)}")


def _require_at_least(least: int, settings: Any, *names: str) -> None:
    for name in names:
        value: Any = getattr(settings, name)
        for number in value if isinstance(value, tuple) else (value,):
            if number is not None and number < least:
                place = f"{type(settings).__name__}.{name}"
                raise SettingError("too small", field=place, found=number, expected=f"at least {least}")


def _require_halvings(horizon: int, denoiser: DenoiserConfig) -> None:
    if isinstance(denoiser, UnetConfig) and horizon % (halvings := 2 ** (len(denoiser.widths) - 1)):
        raise SettingError(
            "the U-Net cannot halve the chunk that often",
            field="prediction_horizon",
            found=horizon,
            expected=f"a multiple of {halvings}",
        )
