"""`env_args`: what a robomimic file says of its environment, its controller and therefore of its actions."""

from __future__ import annotations

import dataclasses
import json
import re
from dataclasses import dataclass
from typing import Any, cast

from sido.demos.action_spec import ActionSpec, Frame
from sido.demos.json_document import JsonNode, mended_by, parse_json
from sido.demos.source import DatasetInfo, Environment
from sido.errors import DataError

__all__ = ["EnvArgs", "env_args_of", "is_release_1_5", "parse_env_args"]

_ARMS = ("right", "arm", "single")  # names that robosuite 1.5 gives the only arm of a robot
_ROBOSUITE, _GYM = 1, 2  # robomimic's EnvType
_DEFAULT_RATE_HZ = 20.0
_PLACE = "data.attrs[env_args]"


@dataclass(frozen=True)
class EnvArgs:
    """`env_args`, understood."""

    environment: Environment | None
    robot: str
    """The first robot: "Panda"; empty where the file does not say."""
    spec: ActionSpec | None
    """What the controller makes of the actions, in the frame of the file ("world" for robosuite 1.4)."""
    problem: DataError | None = None
    """Why `spec` is None. It is raised only where nobody says otherwise."""
    warnings: tuple[str, ...] = ()


def parse_env_args(text: str | None) -> EnvArgs:
    """Understand the JSON in `data.attrs["env_args"]`; robosuite up to 1.4 and from 1.5 on."""
    if not text:
        return EnvArgs(None, "", None, _unknown("the file does not say what its actions mean", found="no env_args"))
    with mended_by("correct the attribute, or copy it from another file of the same environment"):
        return _understood(text, parse_json(text, place=_PLACE))


def _understood(text: str, document: JsonNode) -> EnvArgs:
    version, kwargs = document.get("env_version"), document.get("env_kwargs") or JsonNode({}, f"{_PLACE} > env_kwargs")
    environment = Environment(document["env_name"].text(), "" if version is None else version.text(), text)
    robot = _first_robot(kwargs)
    try:
        spec, warnings = _spec_of(kwargs, environment.version)
    except DataError as error:
        return EnvArgs(environment, robot, None, error)
    return EnvArgs(environment, robot, spec, warnings=warnings)


def is_release_1_5(version: str) -> bool | None:
    """Whether a robosuite version is 1.5 or newer; None where it cannot be told."""
    numbers = re.match(r"(\d+)\.(\d+)", version)
    return None if numbers is None else (int(numbers[1]), int(numbers[2])) >= (1, 5)


def env_args_of(info: DatasetInfo) -> tuple[str, Frame]:
    """The `env_args` to write for a dataset, and the frame in which its absolute actions and increments then stand.

    What the dataset came with stays verbatim as long as it describes the actions; else its controller is corrected.
    """
    environment, spec = info.environment, info.action_spec
    if environment is None or not environment.json:
        document = _minimal(environment, spec)
    else:
        told = parse_env_args(environment.json)
        if told.spec is None or dataclasses.replace(told.spec, frame=spec.frame) == spec:
            return environment.json, "base" if told.spec is None else told.spec.frame
        document = json.loads(environment.json)
        _correct(document["env_kwargs"]["controller_configs"], spec, environment.version)
    text = json.dumps(document, indent=4)
    written = parse_env_args(text).spec
    return text, "base" if written is None else written.frame


def _first_robot(kwargs: JsonNode) -> str:
    robots = kwargs.get("robots")
    if robots is None or isinstance(robots.value, str):
        return "" if robots is None else robots.text()
    return next(iter(robots.texts()), "")


def _spec_of(kwargs: JsonNode, version: str) -> tuple[ActionSpec, tuple[str, ...]]:
    configs = kwargs.get("controller_configs")
    if configs is None:
        raise _unknown("the environment has no controller_configs", found=[name for name, _ in kwargs.items()])
    arm, recent = _arm(configs), is_release_1_5(version)
    kind = arm["type"].text()
    if kind not in ("OSC_POSE", "OSC_POSITION"):
        raise _unknown("unknown controller", found=kind, expected="OSC_POSE or OSC_POSITION")
    since_1_5 = configs.get("body_parts") is not None if recent is None else recent
    control_delta = _flag(arm, "control_delta")
    warnings: list[str] = []
    if since_1_5:
        relative = _choice(arm, "input_type", "delta", "absolute") == "delta"
        frame = _choice(arm, "input_ref_frame", "base", "world")
        if relative and not control_delta:
            warnings.append(
                "env_args says control_delta=false, which robosuite 1.5 ignores: the actions are read as relative"
            )
    else:
        relative, frame = control_delta, "world"
    rate = kwargs.get("control_freq")
    return ActionSpec(
        "relative" if relative else "absolute",
        rotation="axis_angle" if kind == "OSC_POSE" else "none",
        frame=cast(Frame, frame),
        position_scale_m=_scale(arm, slice(0, 3)) if relative else 1.0,
        rotation_scale_rad=_scale(arm, slice(3, 6)) if relative and kind == "OSC_POSE" else 1.0,
        rate_hz=_DEFAULT_RATE_HZ if rate is None else rate.number(above=0.0),
    ), tuple(warnings)


def _flag(arm: JsonNode, name: str) -> bool:
    node = arm.get(name)
    return True if node is None else node.flag()


def _choice(arm: JsonNode, name: str, *choices: str) -> str:
    """One of the choices; the first where the config says nothing."""
    node = arm.get(name)
    if node is not None and node.text() not in choices:
        raise node.wrong(f"one of {', '.join(map(repr, choices))}")
    return choices[0] if node is None else node.text()


def _arm(configs: JsonNode) -> JsonNode:
    """The only arm's controller: the whole of a 1.4 config, one body part of a 1.5 config."""
    parts = configs.get("body_parts")
    if parts is None:
        return configs
    parts = parts.get("arms") or parts
    for name in _ARMS:
        if (arm := parts.get(name)) is not None:
            return arm
    found = sorted(name for name, _ in parts.items())
    raise _unknown("no arm among the controller's body parts", found=found, expected=f"one of {_ARMS}")


def _scale(arm: JsonNode, axes: slice) -> float:
    """How far one unit of input moves the goal, metres or radians; the same on all three axes."""

    def limits(name: str, default: float) -> list[float]:
        node = arm.get(name)
        if node is None or not isinstance(node.value, list):
            return [default if node is None else node.number()] * 3
        values = [entry.number() for entry in node.each()][axes]
        if len(values) != 3:
            raise node.wrong("one number, or six: x, y, z and three for the rotation")
        return values

    default = 0.05 if axes.start == 0 else 0.5
    high, low = limits("output_max", default), limits("output_min", -default)
    ins_high, ins_low = limits("input_max", 1.0), limits("input_min", -1.0)
    scales = set(high) | {-low_ for low_ in low}
    if len(scales) != 1 or set(ins_high) != {1.0} or set(ins_low) != {-1.0}:
        raise _unknown(
            "the controller scales its axes in different ways",
            found=f"output {low} to {high}, input {ins_low} to {ins_high}",
            expected="symmetric limits, the same on x, y and z, and inputs from -1 to 1",
        )
    return scales.pop()


def _unknown(problem: str, *, found: object, expected: object = None) -> DataError:
    return DataError(
        problem,
        field=_PLACE,
        found=found,
        expected=expected,
        fix="say what the actions mean with --action-spec",
    )


def _minimal(environment: Environment | None, spec: ActionSpec) -> dict[str, Any]:
    """What robomimic's readers ask of `env_args`, for a dataset that never had any."""
    version = "" if environment is None else environment.version
    since_1_5 = is_release_1_5(version) is not False
    arm: dict[str, Any] = {
        "type": "OSC_POSITION" if spec.rotation == "none" else "OSC_POSE",
        "input_max": 1,
        "input_min": -1,
        "output_max": [0.05] * 3 + [0.5] * 3,
        "output_min": [-0.05] * 3 + [-0.5] * 3,
        "kp": 150,
        "damping_ratio": 1,
        "impedance_mode": "fixed",
        "kp_limits": [0, 300],
        "damping_ratio_limits": [0, 10],
        "position_limits": None,
        "orientation_limits": None,
        "uncouple_pos_ori": True,
        "interpolation": None,
        "ramp_ratio": 0.2,
    }
    configs = {"type": "BASIC", "body_parts": {"right": {**arm, "gripper": {"type": "GRIP"}}}} if since_1_5 else arm
    _correct(configs, spec, version)
    return {
        "env_name": "unknown" if environment is None else environment.name,
        "env_version": version,
        "type": _GYM if environment is None else _ROBOSUITE,
        "env_kwargs": {"robots": ["Panda"], "control_freq": spec.rate_hz, "controller_configs": configs},
    }


def _correct(configs: dict[str, Any], spec: ActionSpec, version: str) -> None:
    """Make a controller, in a document of our own, take the actions of `spec`."""
    arm, recent = cast("dict[str, Any]", _arm(JsonNode(configs)).value), is_release_1_5(version)
    since_1_5 = "body_parts" in configs if recent is None else recent
    arm.pop("control_delta", None)
    if since_1_5:
        arm["input_type"] = "delta" if spec.kind == "relative" else "absolute"
        arm.setdefault("input_ref_frame", "base")
    else:
        arm["control_delta"] = spec.kind == "relative"
    if spec.kind == "relative":
        arm["output_max"] = [spec.position_scale_m] * 3 + [spec.rotation_scale_rad] * 3
        arm["output_min"] = [-limit for limit in arm["output_max"]]
