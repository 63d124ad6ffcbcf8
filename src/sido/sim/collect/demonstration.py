"""From an attempt to a demonstration, and from a task to what is true of all of them."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Bool

from sido.arrays import Array
from sido.demos.demo import Demo, Grasp
from sido.demos.frames import Frames
from sido.demos.robomimic.env_args import env_args_of
from sido.demos.source import DatasetInfo, Environment
from sido.sim.collect.annotation import annotation_of
from sido.sim.collect.attempt import Played
from sido.sim.collect.contact_log import grasp_step
from sido.sim.collect.recipe import Recipe
from sido.sim.collect.recorder import IMAGE, RECORDED, SIGNAL
from sido.sim.tasks import Task

__all__ = ["dataset_info", "demonstration"]

_GYM = 2
"""robomimic's EnvType of what Gymnasium makes."""


def demonstration(played: Played, name: str, recipe: Recipe, task: Task) -> Demo:
    """A usable attempt as a demonstration."""
    arrays = played.arrays
    parts = {prefix: _under(prefix, arrays) for prefix in (IMAGE, RECORDED, SIGNAL)}
    closing, held = (arrays[f"{RECORDED}events/{event}"] for event in ("closing", "held"))
    index = grasp_step(closing, held, arrays["object_position"])
    assert index is not None, "it is usable"
    return Demo(
        name=name,
        actions=arrays["actions"],
        action_spec=recipe.action_spec,
        eef_position=arrays["eef_position"],
        eef_quat_wxyz=arrays["eef_quat_wxyz"],
        gripper=arrays["gripper"],
        object_position=arrays["object_position"],
        images={camera: Frames.of_array(images) for camera, images in parts[IMAGE].items()},
        subtask_signals=parts[SIGNAL],
        grasp=Grasp(index, "contact log", _end_of_earlier_subtasks(parts[SIGNAL], index)),
        task=task.description,
        recorded=parts[RECORDED],
        metadata={
            "model_file": portable_model(task.scene.mjcf),
            "seed": str(played.seed),
            "attempt": str(played.number),
            "expert": json.dumps(dataclasses.asdict(recipe.expert)),
        },
    )


def dataset_info(recipe: Recipe, task: Task, provenance: Mapping[str, Any]) -> DatasetInfo:
    """What is true of all demonstrations of a recipe."""
    annotation = annotation_of(task)
    info = DatasetInfo(
        format="collected",
        action_spec=recipe.action_spec,
        cameras=recipe.cameras,
        environment=Environment(annotation.environment, annotation.version),
        world_from_base=task.scene.arm.base_pose,
        object_position_source="the simulator",
        provenance=json.dumps(provenance),
    )
    text, _frame = env_args_of(info)
    document: dict[str, Any] = json.loads(text)
    if not annotation.robosuite:
        document["type"] = _GYM
    document["env_kwargs"] |= {
        "has_renderer": False,
        "has_offscreen_renderer": bool(recipe.cameras),
        "ignore_done": True,
        "use_object_obs": True,
        "use_camera_obs": bool(recipe.cameras),
        "camera_names": list(recipe.cameras),
        "camera_heights": recipe.image_size,
        "camera_widths": recipe.image_size,
        "camera_depths": False,
        "reward_shaping": False,
    }
    environment = Environment(annotation.environment, annotation.version, json.dumps(document, indent=4))
    return dataclasses.replace(info, environment=environment)


def portable_model(mjcf: str) -> str:
    """The model with its meshes and textures named from `robosuite/` on, as robosuite finds them on any machine."""
    return re.sub(r'file="[^"]*/robosuite/models/', 'file="robosuite/models/', mjcf)


def _under(prefix: str, arrays: Mapping[str, Array]) -> dict[str, Array]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def _end_of_earlier_subtasks(signals: Mapping[str, Bool[Array, "T"]], index: int) -> int:
    """The first step before the grasp at which all that comes earlier has been done; 0 where nothing does."""
    others = [signal for name, signal in signals.items() if name != "grasp" and signal[: index + 1].any()]
    return max((int(np.argmax(signal)) for signal in others), default=0)
