"""`env_args`: what a robomimic file says of its environment, its controller and therefore of its actions."""

from __future__ import annotations

import dataclasses
import json
import re
from dataclasses import dataclass
from typing import Any

from sido.demos.action_spec import ActionSpec, Frame
from sido.demos.source import DatasetInfo, Environment
from sido.errors import DataError

__all__ = ["EnvArgs", "env_args_of", "is_release_1_5", "parse_env_args"]

_ARMS = ("right", "arm", "single")  # names that robosuite 1.5 gives the only arm of a robot
_ROBOSUITE, _GYM = 1, 2  # robomimic's EnvType
_DEFAULT_RATE_HZ = 20.0


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
    try:
        document: Any = json.loads(text)
        name = str(document["env_name"])
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise DataError(
            "not the JSON of an environment",
            field="data.attrs[env_args]",
            found=repr(error),
            expected="env_name, env_kwargs",
        ) from error
    environment = Environment(name, str(document.get("env_version") or ""), text)
    kwargs: dict[str, Any] = document.get("env_kwargs") or {}
    robots: Any = kwargs.get("robots") or [""]
    robot = str(robots if isinstance(robots, str) else robots[0])
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


def _spec_of(kwargs: dict[str, Any], version: str) -> tuple[ActionSpec, tuple[str, ...]]:
    configs: Any = kwargs.get("controller_configs")
    if not isinstance(configs, dict):
        raise _unknown("the environment has no controller_configs", found=sorted(kwargs))
    arm = _arm(configs)
    kind: Any = arm.get("type")
    if kind not in ("OSC_POSE", "OSC_POSITION"):
        raise _unknown("unknown controller", found=kind, expected="OSC_POSE or OSC_POSITION")
    composite, recent = "body_parts" in configs, is_release_1_5(version)
    since_1_5 = composite if recent is None else recent
    warnings: list[str] = []
    if since_1_5:
        relative, frame = arm.get("input_type", "delta") == "delta", arm.get("input_ref_frame", "base")
        if relative and arm.get("control_delta") is False:
            warnings.append(
                "env_args says control_delta=false, which robosuite 1.5 ignores: the actions are read as relative"
            )
    else:
        relative, frame = bool(arm.get("control_delta", True)), "world"
    return ActionSpec(
        "relative" if relative else "absolute",
        rotation="axis_angle" if kind == "OSC_POSE" else "none",
        frame=frame,
        position_scale_m=_scale(arm, slice(0, 3)) if relative else 1.0,
        rotation_scale_rad=_scale(arm, slice(3, 6)) if relative and kind == "OSC_POSE" else 1.0,
        rate_hz=float(kwargs.get("control_freq", _DEFAULT_RATE_HZ)),
    ), tuple(warnings)


def _arm(configs: dict[str, Any]) -> dict[str, Any]:
    """The only arm's controller: the whole of a 1.4 config, one body part of a 1.5 config."""
    if "body_parts" not in configs:
        return configs
    parts: dict[str, Any] = configs["body_parts"]
    parts = parts.get("arms", parts)
    for name in _ARMS:
        if isinstance(parts.get(name), dict):
            return parts[name]
    raise _unknown("no arm among the controller's body parts", found=sorted(parts), expected=f"one of {_ARMS}")


def _scale(arm: dict[str, Any], axes: slice) -> float:
    """How far one unit of input moves the goal, metres or radians; the same on all three axes."""

    def limits(name: str, default: float) -> list[float]:
        value: Any = arm.get(name, default)
        values = [float(entry) for entry in value] if isinstance(value, list) else [float(value)] * 6  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        return values[axes]

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
        field="data.attrs[env_args]",
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
    arm, recent = _arm(configs), is_release_1_5(version)
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
