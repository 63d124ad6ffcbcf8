"""What the numbers of an action mean."""

from __future__ import annotations

import dataclasses
import json
import math
from dataclasses import dataclass
from typing import Any, Literal, get_args

from jaxtyping import Bool, Float

from sido.arrays import Array
from sido.demos.json_document import JsonNode, parse_json
from sido.errors import DataError, SettingError

__all__ = ["ACTION_SPECS", "ActionSpec", "Frame", "Kind", "RotationForm", "action_spec"]

Kind = Literal["absolute", "relative"]
Frame = Literal["base", "world", "tool"]
RotationForm = Literal["axis_angle", "rot6d", "quat_wxyz", "euler_xyz", "none"]

_CHOICES = {"kind": Kind, "rotation": RotationForm, "frame": Frame}
_ROTATION_SIZE: dict[RotationForm, int] = {"axis_angle": 3, "rot6d": 6, "quat_wxyz": 4, "euler_xyz": 3, "none": 0}


@dataclass(frozen=True)
class ActionSpec:
    """The layout and the units of an action: `[position 3, rotation 0-6, gripper 1]`.

    An *absolute* action is the pose that the end-effector is sent to. A *relative* one is an increment, in units
    of `position_scale_m` and `rotation_scale_rad`, that the controller adds to the pose it has at that moment.
    It travels with the data, the checkpoint and the server's handshake, so that a policy never drives a robot in
    other units than it was trained in.
    """

    kind: Kind
    rotation: RotationForm = "axis_angle"
    frame: Frame = "base"
    position_scale_m: float = 1.0
    rotation_scale_rad: float = 1.0
    gripper_open: float = -1.0
    gripper_closed: float = 1.0
    rate_hz: float = 20.0

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            allowed = get_args(choices)
            if getattr(self, name) not in allowed:
                raise SettingError(
                    "unknown value", field=f"ActionSpec.{name}", found=repr(getattr(self, name)), expected=allowed
                )
        for name in ("position_scale_m", "rotation_scale_rad", "rate_hz"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0):
                raise SettingError(
                    "not a usable number", field=f"ActionSpec.{name}", found=value, expected="a finite number above 0"
                )
        if not all(map(math.isfinite, (self.gripper_open, self.gripper_closed))):
            raise SettingError("the gripper's range must be finite", field="ActionSpec.gripper_open/gripper_closed")
        if self.gripper_open == self.gripper_closed:
            raise SettingError(
                "open and closed must differ", field="ActionSpec.gripper_open/gripper_closed", found=self.gripper_open
            )
        if self.kind == "absolute" and self.frame == "tool":
            raise SettingError(
                "a goal cannot be told in the frame of the tool that is sent there",
                field="ActionSpec.frame",
                found="'tool'",
                expected="'base' or 'world'",
            )
        if self.kind == "relative" and self.rotation not in ("axis_angle", "none"):
            raise SettingError(
                "a relative action's rotation is an increment",
                field="ActionSpec.rotation",
                found=repr(self.rotation),
                expected="'axis_angle' or 'none'",
            )

    @property
    def dim(self) -> int:
        """How many numbers an action has."""
        return 3 + _ROTATION_SIZE[self.rotation] + 1

    @property
    def rotation_slice(self) -> slice:
        """Where the rotation stands in an action."""
        return slice(3, self.dim - 1)

    @property
    def gripper_range(self) -> tuple[float, float]:
        """The lowest and the highest gripper command."""
        return min(self.gripper_open, self.gripper_closed), max(self.gripper_open, self.gripper_closed)

    def closes(self, actions: Float[Array, "*batch A"]) -> Bool[Array, "*batch"]:
        """Which actions tell the gripper to close rather than to open, whatever its sign and range."""
        return (actions[..., -1] - self.gripper_open) / (self.gripper_closed - self.gripper_open) > 0.5

    def require_same(self, other: ActionSpec, *, here: str, there: str) -> None:
        """Raise, naming both values of every field that differs, unless `other` is this same spec."""
        mine, theirs = dataclasses.asdict(self), dataclasses.asdict(other)
        differing = [name for name in mine if mine[name] != theirs[name]]
        if differing:
            raise DataError(
                f"the action specs of {here} and {there} differ",
                field=", ".join(differing),
                found=", ".join(f"{name}={mine[name]!r} ({here}), {theirs[name]!r} ({there})" for name in differing),
                fix="convert the dataset, or use the policy with the robot that it was trained for",
            )

    def to_json(self) -> str:
        return json.dumps(dataclasses.asdict(self))

    @classmethod
    def from_json(cls, text: str) -> ActionSpec:
        """Read what `to_json` wrote."""
        return cls.from_json_node(parse_json(text, place="ActionSpec"))

    @classmethod
    def from_json_node(cls, node: JsonNode) -> ActionSpec:
        """Build a spec from an object of its fields; those that are absent have their defaults, others are refused."""
        names = [field.name for field in dataclasses.fields(cls)]
        fields: dict[str, Any] = {}
        for name, value in node.items():
            if name not in names:
                raise value.wrong(f"only {', '.join(names)}")
            fields[name] = value.text() if name in _CHOICES else value.number()
        node["kind"]
        return cls(**fields)


ACTION_SPECS: dict[str, ActionSpec] = {
    # robosuite's OSC_POSE, as robomimic and MimicGen record it: +-1 is 5 cm and 0.5 rad a step.
    "osc-delta": ActionSpec("relative", position_scale_m=0.05, rotation_scale_rad=0.5),
    "osc-absolute": ActionSpec("absolute"),
    # diffusion_policy's *_abs datasets after its rotation transform: position, first two rows of R, gripper.
    "rot6d-absolute": ActionSpec("absolute", rotation="rot6d"),
    "droid": ActionSpec("absolute", rotation="euler_xyz", gripper_open=0.0, gripper_closed=1.0, rate_hz=15.0),
}
"""Specs that datasets of the field come in, by the name that `--action-spec` takes."""


def action_spec(name_or_json: str) -> ActionSpec:
    """The spec that a person named: one of `ACTION_SPECS`, or a JSON object of `ActionSpec`'s fields."""
    if name_or_json in ACTION_SPECS:
        return ACTION_SPECS[name_or_json]
    if name_or_json.lstrip().startswith("{"):
        return ActionSpec.from_json(name_or_json)
    raise SettingError(
        "unknown action spec",
        found=repr(name_or_json),
        expected=f"one of {', '.join(ACTION_SPECS)}, or a JSON object of ActionSpec's fields",
    )
