"""One demonstration."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from sido.arrays import Array, read_only
from sido.demos.action_spec import ActionSpec
from sido.demos.frames import Frames
from sido.errors import DataError

__all__ = ["Demo", "Grasp"]

CLOSING_S = 0.4
"""Fingers that are told to close have closed after so long."""
_LARGEST = 1e9  # in metres, radians, or a gripper's unit: what lies beyond is a broken file, and its square overflows
_RANGE_TOLERANCE = 1e-4  # commands stored as float32, or interpolated, overshoot their range by a hair


@dataclass(frozen=True)
class Grasp:
    """When the object is grasped, and how that is known."""

    index: int
    """`T_g`: the first step whose action closes the gripper for the grasp that moves the object."""
    source: str
    """How it was found, as a person reads it: "subtask signal 'grasp'", "fingers stalled", ..."""
    window_start: int = 0
    """The first step after any earlier subtask (opening the drawer); chunks before it have another aim."""

    def eligible(self, step: int, prediction_horizon: int) -> bool:
        """Whether the chunk that starts at `step` reaches for the object and ends before the grasp."""
        return self.window_start <= step <= self.index - prediction_horizon


@dataclass(frozen=True, eq=False)
class Demo:
    """One episode, in SI units and the robot's base frame; observation `t` is taken before action `t`.

    The arrays are read-only and of equal length `T`. Building one checks them: a demonstration in hand has finite
    numbers, equal lengths and actions within their range.
    """

    name: str
    actions: Float[Array, "T A"]
    action_spec: ActionSpec
    eef_position: Float[Array, "T 3"]
    """The point that the actions move (the grip site), metres."""
    eef_quat_wxyz: Float[Array, "T 4"]
    """The orientation of that same site: absolute goals and relative increments refer to it."""
    gripper: Float[Array, "T G"]
    """Finger joints, as the robot reports them. Their spread says whether something is held."""
    object_position: Float[Array, "T 3"] | None = None
    """`P_t`, metres; None where the dataset has no pose of the object at all."""
    images: Mapping[str, Frames] = field(default_factory=dict[str, Frames])
    """By camera name ("agentview"), read when indexed."""
    subtask_signals: Mapping[str, Bool[Array, " T"]] = field(default_factory=dict[str, Array])
    """Subtask name -> whether its end has been reached, as MimicGen annotates it. The grasp's is named "grasp"."""
    grasp: Grasp | None = None
    task: str = ""
    """What is done, in words."""
    recorded: Mapping[str, Array] = field(default_factory=dict[str, Array])
    """Whatever else the file holds for every step, verbatim (names, frames and units of the file), by its path
    there: "obs/object", "states", "datagen_info/target_pose". Conversion carries it along."""
    metadata: Mapping[str, str] = field(default_factory=dict[str, str])
    """Whatever else the file says once an episode, as text: the MJCF model, `ep_meta`."""

    def __post_init__(self) -> None:
        if not _is_text(self.name):
            raise DataError("not a name", field="name", found=repr(self.name), expected="text")
        try:
            self._freeze()
            self._check()
        except DataError as error:
            raise error.at(demo=self.name) from None

    def _freeze(self) -> None:
        for name in ("actions", "eef_position", "eef_quat_wxyz", "gripper", "object_position"):
            array: Any = getattr(self, name)
            if array is not None or name != "object_position":
                self._set(name, read_only(_numbers(array, name)))
        recorded = {key: read_only(_over_steps(value, key)) for key, value in self.recorded.items()}
        self._set("recorded", MappingProxyType(recorded))
        signals = {key: read_only(np.asarray(value).astype(bool)) for key, value in self.subtask_signals.items()}
        self._set("subtask_signals", MappingProxyType(signals))
        self._set("images", MappingProxyType(dict(self.images)))
        self._set("metadata", MappingProxyType(dict(self.metadata)))

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.actions)

    def eligible_steps(self, prediction_horizon: int) -> Bool[Array, " T"]:
        """Which steps start a chunk that may be displaced: it reaches for the object and ends before the grasp."""
        if self.grasp is None:
            return np.zeros(len(self), dtype=bool)
        steps = np.arange(len(self))
        return (steps >= self.grasp.window_start) & (steps + prediction_horizon <= self.grasp.index)

    def held_steps(self) -> Bool[Array, " T"]:
        """Steps at which the object is in the hand: the fingers have had time to close, and are not told to open."""
        if self.grasp is None:
            return np.zeros(len(self), dtype=bool)
        steps = np.arange(len(self))
        first = self.grasp.index + math.ceil(CLOSING_S * self.action_spec.rate_hz)
        opening = ~self.action_spec.closes(self.actions)
        opened = np.flatnonzero(opening & (steps > self.grasp.index))
        return (steps >= first) & (steps < (opened[0] if len(opened) else len(self)))

    def _check(self) -> None:
        if self.actions.shape[:1] == (0,):
            raise DataError("the demonstration is empty", field="actions", fix="delete it from the file")
        self._check_shapes()
        for name in ("actions", "eef_position", "eef_quat_wxyz", "gripper", "object_position"):
            array: Array | None = getattr(self, name)
            if array is not None and not (np.abs(array) < _LARGEST).all():
                step = int(np.argwhere(~(np.abs(array) < _LARGEST))[0, 0])
                raise DataError(
                    "not a finite number",
                    field=name,
                    found=f"{array[step].tolist()} at step {step}",
                    expected=f"finite numbers, under {_LARGEST:g}",
                    fix="delete the demonstration, or record it again",
                )
        zero = ~self.eef_quat_wxyz.any(axis=1)
        if zero.any():
            step = int(zero.argmax())
            raise DataError(
                "not a rotation",
                field="eef_quat_wxyz",
                found=f"{self.eef_quat_wxyz[step].tolist()} at step {step}",
                expected="(w, x, y, z), not all zero",
                fix="delete the demonstration, or record it again",
            )
        self._check_action_range()

    def _check_shapes(self) -> None:
        spec = self.action_spec
        if self.actions.ndim != 2 or self.actions.shape[1] != spec.dim:
            raise DataError(
                "the actions do not fit their spec",
                field="actions",
                found=list(self.actions.shape),
                expected=f"[T, {spec.dim}] ({spec.kind}, rotation as {spec.rotation})",
                fix="name the right spec with --action-spec",
            )
        length = len(self.actions)
        widths = {"eef_position": 3, "eef_quat_wxyz": 4, "object_position": 3, "gripper": None}
        for name, width in widths.items():
            array: Array | None = getattr(self, name)
            if array is not None and (array.ndim != 2 or (width is not None and array.shape[1] != width)):
                raise DataError(
                    "wrong shape", field=name, found=list(array.shape), expected=f"[T, {width or 'joints'}]"
                )
        for key, signal in self.subtask_signals.items():
            if signal.ndim != 1:
                raise DataError("wrong shape", field=f"subtask signal {key}", found=list(signal.shape), expected="[T]")
        lengths = {
            **{name: len(getattr(self, name)) for name in widths if getattr(self, name) is not None},
            **{f"images of {camera}": len(frames) for camera, frames in self.images.items()},
            **{f"subtask signal {key}": len(signal) for key, signal in self.subtask_signals.items()},
            **{key: len(array) for key, array in self.recorded.items()},
        }
        for name, found in lengths.items():
            if found != length:
                raise DataError(
                    "lengths differ",
                    field=name,
                    found=f"{found} steps",
                    expected=f"{length}, as many as actions",
                    fix="record the demonstration again, or cut both to the same length",
                )
        if self.grasp is not None and not (_is_step(self.grasp.index) and _is_step(self.grasp.window_start)):
            raise DataError("not a step", field="grasp", found=self.grasp, expected="whole numbers")
        if self.grasp is not None and not 0 <= self.grasp.window_start <= self.grasp.index < length:
            raise DataError("the grasp lies outside the demonstration", field="grasp", found=self.grasp)

    def _check_action_range(self) -> None:
        spec = self.action_spec
        low = np.full(spec.dim, -np.inf if spec.kind == "absolute" else -1.0)
        high = -low
        low[-1], high[-1] = spec.gripper_range
        beyond = (self.actions < low - _RANGE_TOLERANCE) | (self.actions > high + _RANGE_TOLERANCE)
        if beyond.any():
            step, entry = (int(index) for index in np.argwhere(beyond)[0])
            raise DataError(
                "an action is beyond its range",
                field=f"actions[{step}, {entry}]",
                found=f"{self.actions[step, entry]:.6g}",
                expected=f"{low[entry]:g} to {high[entry]:g} ({spec.kind} actions)",
                fix="if the actions have another meaning, name it with --action-spec; else rescale them",
            )


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_step(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _numbers(values: Any, field: str) -> Array:
    """`values` as float64."""
    try:
        array = np.asarray(values)
    except (TypeError, ValueError):
        array = np.asarray(None)
    if array.dtype.kind not in "fiub":
        raise DataError("not an array of numbers", field=field, found=repr(values)[:80], expected="real numbers")
    return array.astype(np.float64, copy=False)


def _over_steps(value: Any, field: str) -> Array:
    if not isinstance(value, np.ndarray) or value.ndim == 0:
        shape = f" of shape {list(value.shape)}" if isinstance(value, np.ndarray) else ""
        found = f"{type(value).__name__}{shape}"
        raise DataError("not an array over the steps", field=field, found=found, expected="an array [T, ...]")
    return value
