"""What the arrays of one robomimic file mean: from names, frames and units of the file to those of a `Demo`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from sido.arrays import Array
from sido.demos.absolute import in_frame
from sido.demos.action_spec import ActionSpec, Frame
from sido.demos.demo import Demo
from sido.demos.json_document import parse_json
from sido.demos.robomimic.end_effector import site_quat
from sido.demos.robomimic.env_args import EnvArgs, parse_env_args
from sido.demos.robomimic.object_layouts import object_layout
from sido.demos.robomimic.object_position import ObjectPosition, find_object_position
from sido.demos.robomimic.recording import Recording
from sido.demos.robomimic.robot_base import base_in_model, known_base
from sido.demos.source import OWN_BASE, DatasetInfo, Environment, Hints, grasp_from_json, own_base, own_base_to_json
from sido.errors import DataError
from sido.geometry import Pose, quat_multiply

__all__ = ["FORMAT", "OBJECT_KEY_ATTRIBUTE", "Interpretation", "interpret"]

FORMAT = "robomimic HDF5"
OBJECT_KEY_ATTRIBUTE = "sido_object_key"
"""Names the array that sido added to hold the object's position: an attribute of `data`."""

EEF_POSITION, GRIPPER, SIGNALS = "obs/robot0_eef_pos", "obs/robot0_gripper_qpos", "datagen_info/subtask_term_signals/"
OBJECT = "obs/object"
_FAR_M = 0.2  # a goal is a few centimetres ahead of the hand; told in another frame, it is as far off as the base


@dataclass(frozen=True)
class Interpretation:
    """How a recording of this file becomes a `Demo`."""

    robot: str
    spec: ActionSpec
    """As the demonstrations have it."""
    file_frame: Frame
    """The frame in which the file has its actions."""
    world_from_base: Pose | None
    """The same for every demonstration, where a demonstration's own model does not say otherwise."""
    base_is_told: bool
    """Whether sido wrote `world_from_base`; the models are not asked then."""
    environment: Environment | None
    cameras: tuple[str, ...]
    """Those that are wanted."""
    object_position: ObjectPosition | None
    added: str | None
    """The array that sido added, which is no part of what was recorded."""

    def demo(self, name: str, recording: Recording) -> Demo:
        """The demonstration in SI units and the robot's base frame."""
        world_from_base = self.base_of(recording)
        base_from_world = (world_from_base or Pose.identity()).inverse()
        arrays = recording.arrays
        actions = recording.array("actions")
        if self.file_frame == "world":
            actions = _in_frame(actions, self.spec, base_from_world)
        site_in_world, _guess = site_quat(arrays, self.robot)
        taken = None if self.object_position is None else self.object_position.take(arrays)
        return Demo(
            name=name,
            actions=actions,
            action_spec=self.spec,
            eef_position=base_from_world.apply(recording.array(EEF_POSITION, 3)),
            eef_quat_wxyz=quat_multiply(base_from_world.quat_wxyz, site_in_world),
            gripper=recording.array(GRIPPER),
            object_position=None if taken is None else base_from_world.apply(taken),
            images={camera: recording.images[camera] for camera in self.cameras if camera in recording.images},
            subtask_signals=_signals(recording, self.environment),
            grasp=grasp_from_json(recording.own["sido_grasp"]) if "sido_grasp" in recording.own else None,
            task=recording.own.get("sido_task") or _language(recording.metadata),
            recorded={path: array for path, array in arrays.items() if path not in ("actions", self.added)},
            metadata=recording.metadata
            if world_from_base is None or world_from_base == self.world_from_base
            else {**recording.metadata, OWN_BASE: own_base_to_json(world_from_base)},
        )

    def base_of(self, recording: Recording) -> Pose | None:
        """`world_from_base` of one demonstration."""
        own = own_base(recording.metadata)
        if own is not None:
            return own
        model = recording.metadata.get("model_file")
        if self.base_is_told or not model:
            return self.world_from_base
        return base_in_model(model) or self.world_from_base


def interpret(attributes: Mapping[str, str], first: Recording, hints: Hints) -> tuple[Interpretation, DatasetInfo]:
    """Understand a file by the attributes of its `data` group and its first demonstration.

    What a person says comes first, then what sido wrote, then what the file's own format says.
    """
    env_args = parse_env_args(attributes.get("env_args"))
    cameras = _cameras(first, hints.cameras)
    told = DatasetInfo.from_json(attributes["sido"], format=FORMAT, cameras=cameras) if "sido" in attributes else None
    world_from_base, no_base = _base(told, first, env_args)
    spec, file_frame, wrong_frame = _actions(told, first, env_args, hints, world_from_base)
    added = attributes.get(OBJECT_KEY_ATTRIBUTE)
    environment = env_args.environment if told is None else told.environment
    found, no_object = find_object_position(first.arrays, environment, hints, added)
    _site, guessed_site = site_quat(first.arrays, env_args.robot)
    source = None if found is None else found.words
    if told is not None and found is not None and found.path == added:
        source = told.object_position_source or source
    meaning = Interpretation(
        env_args.robot, spec, file_frame, world_from_base, told is not None, environment, cameras, found, added
    )
    notes = [
        *env_args.warnings,
        no_base,
        wrong_frame,
        no_object,
        guessed_site,
        _untold_drawer(first, environment),
        *first.skipped,
    ]
    return meaning, DatasetInfo(
        format=FORMAT,
        action_spec=spec,
        cameras=cameras,
        environment=environment,
        world_from_base=world_from_base,
        object_position_source=source,
        warnings=tuple(note for note in notes if note),
        provenance="" if told is None else told.provenance,
    )


def _signals(recording: Recording, environment: Environment | None) -> dict[str, Bool[Array, " T"]]:
    """What is annotated, and whether the drawer is open where that is not."""
    signals = {
        path.removeprefix(SIGNALS): recording.flags(path) for path in recording.arrays if path.startswith(SIGNALS)
    }
    layout = object_layout(environment)
    if layout is None or layout.drawer is None or layout.drawer.signal in signals or OBJECT not in recording.arrays:
        return signals
    assert environment is not None
    is_open = layout.drawer_is_open(recording.array(OBJECT), environment.version)
    return signals if is_open is None else signals | {layout.drawer.signal: is_open}


def _untold_drawer(first: Recording, environment: Environment | None) -> str | None:
    """A warning where chunks that open a drawer cannot be told from those that reach for the object."""
    layout = object_layout(environment)
    if layout is None or layout.drawer is None or layout.drawer.signal in _signals(first, environment):
        return None
    return (
        f"nothing says when the drawer is open (no signal {layout.drawer.signal!r}, no {layout.drawer.joint} in "
        f"{OBJECT}): chunks that open it count as reaching for the object"
    )


def _cameras(first: Recording, wanted: tuple[str, ...] | None) -> tuple[str, ...]:
    missing = sorted(set(wanted or ()) - set(first.images))
    if missing:
        raise DataError(
            "no such camera",
            field="obs",
            found=missing,
            expected=f"some of {sorted(first.images)}",
            fix="name another one",
        )
    return tuple(sorted(first.images)) if wanted is None else wanted


def _base(told: DatasetInfo | None, first: Recording, env_args: EnvArgs) -> tuple[Pose | None, str | None]:
    """`world_from_base`, and a warning where nothing says what it is."""
    if told is not None:
        return told.world_from_base, None
    model = first.metadata.get("model_file")
    found = base_in_model(model) if model else None
    found = found or known_base(env_args.environment, env_args.robot)
    if found is not None:
        return found, None
    return None, (
        "the file does not say where the robot stands (no model_file, and an environment or a robot that sido does not "
        "know): positions are in the frame of the file, which may not be the robot's base frame"
    )


def _actions(
    told: DatasetInfo | None, first: Recording, env_args: EnvArgs, hints: Hints, world_from_base: Pose | None
) -> tuple[ActionSpec, Frame, str | None]:
    """What the actions are, the frame that the file has them in, and a warning where that surprises."""
    if hints.action_spec is not None:
        spec, frame = hints.action_spec, hints.action_spec.frame
    elif told is not None:
        spec = told.action_spec
        frame = "world" if env_args.spec is not None and env_args.spec.frame == "world" else "base"
    elif env_args.spec is not None:
        spec, frame = env_args.spec, env_args.spec.frame
    else:
        assert env_args.problem is not None
        raise env_args.problem
    if spec.frame == "tool":
        return spec, "tool", None
    warning = None
    if spec.kind == "absolute":
        frame, warning = _frame_of_goals(first, frame, world_from_base)
    return dataclasses.replace(spec, frame="base"), frame, warning


def _frame_of_goals(first: Recording, declared: Frame, world_from_base: Pose | None) -> tuple[Frame, str | None]:
    """The frame of absolute goals: the declared one, unless the hand is plainly elsewhere.

    robosuite 1.4 takes goals in the world, 1.5 in the base frame, and files say either (or nothing: the `*_abs` files
    of diffusion_policy keep the `env_args` of the increments that they were made from). But the base stands a metre
    from the world's origin, and a goal is a few centimetres from the hand.
    """
    goals, hand = first.array("actions")[:, :3], first.array(EEF_POSITION, 3)
    distance = {"world": _median_distance(goals, hand)}
    if world_from_base is None:
        if distance["world"] > _FAR_M:
            raise DataError(
                "the goals are in another frame than the hand, and nothing says where the robot stands",
                field="actions",
                found=f"goals {distance['world']:.2f} m from {EEF_POSITION}",
                expected="a few centimetres, or a model_file with the body robot0_base",
            )
        return "base", None
    distance["base"] = _median_distance(goals, world_from_base.inverse().apply(hand))
    other: Frame = "world" if declared == "base" else "base"
    if distance[declared] > _FAR_M and distance[other] < distance[declared] / 3:
        return other, (
            f"the goals of the actions are in the {other} frame ({distance[other]:.2f} m from the hand), not in the "
            f"{declared} frame that is declared ({distance[declared]:.2f} m from it): they are read so"
        )
    return declared, None


def _median_distance(a: Float[Array, "T 3"], b: Float[Array, "T 3"]) -> float:
    length = min(len(a), len(b))
    return float(np.median(np.linalg.norm(a[:length] - b[:length], axis=1)))


def _in_frame(actions: Array, spec: ActionSpec, base_from_world: Pose) -> Array:
    """The actions in the base frame; those that do not even fit their spec are left for the demonstration to name."""
    return in_frame(actions, spec, base_from_world) if actions.shape[1] == spec.dim else actions


def _language(metadata: Mapping[str, str]) -> str:
    """What robosuite 1.5 keeps in an episode's `ep_meta`: the task in words."""
    document = parse_json(metadata.get("ep_meta", "{}"), place="ep_meta")
    language = document.value.get("lang") if isinstance(document.value, dict) else None  # pyright: ignore[reportUnknownVariableType]
    return language if isinstance(language, str) else ""
