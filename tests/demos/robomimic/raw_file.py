"""robomimic files written by hand, key by key as robomimic and MimicGen write them, without sido's writer."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from scipy.spatial.transform import Rotation

from sido.demos.demo import Demo
from sido.demos.synthetic import reach_and_lift

BASE_M = np.array([-0.56, 0.0, 0.912])
B_FROM_A_M = np.array([0.1, 0.1, 0.0])
MODEL = """<mujoco model="base"><asset><mesh name="table"/></asset><worldbody>
<body name="table" pos="0 0 0.775"><body name="leg" pos="1 1 1"/></body>
<body name="robot0_base" pos="-0.56 0 0.912" gravcomp="0"><body name="robot0_link0"/></body></worldbody></mujoco>"""
OSC_1_4 = {
    "type": "OSC_POSE",
    "input_max": 1,
    "input_min": -1,
    "output_max": [0.05, 0.05, 0.05, 0.5, 0.5, 0.5],
    "output_min": [-0.05, -0.05, -0.05, -0.5, -0.5, -0.5],
    "kp": 150,
    "damping_ratio": 1,
    "impedance_mode": "fixed",
    "uncouple_pos_ori": True,
    "control_delta": True,
}
OSC_1_5 = {
    "type": "BASIC",
    "body_parts": {
        "right": {
            **{key: value for key, value in OSC_1_4.items() if key != "control_delta"},
            "input_type": "delta",
            "input_ref_frame": "base",
            "gripper": {"type": "GRIP"},
        }
    },
}


def env_args(name: str = "Stack_D0", version: str = "1.4.1", **kwargs: Any) -> str:
    """`env_args` as robomimic serialises it."""
    controller = OSC_1_5 if version.startswith("1.5") else OSC_1_4
    document = {
        "env_name": name,
        "env_version": version,
        "type": 1,
        "env_kwargs": {
            "has_renderer": False,
            "robots": ["Panda"],
            "control_freq": 20,
            "controller_configs": controller,
            **kwargs,
        },
    }
    return json.dumps(document, indent=4)


def with_controller(version: str = "1.4.1", **settings: Any) -> str:
    """`env_args` with an arm controller changed; None deletes a setting."""
    document = json.loads(env_args("Stack_D0" if version < "1.5" else "Stack", version))
    configs = document["env_kwargs"]["controller_configs"]
    arm = configs["body_parts"]["right"] if "body_parts" in configs else configs
    arm.update(settings)
    for key in [key for key, value in arm.items() if value is None]:
        del arm[key]
    return json.dumps(document)


def turned_demos(count: int = 3, *, image_size: int | None = None, **settings: Any) -> list[Demo]:
    """Synthetic demonstrations whose hand also turns."""
    rng = np.random.default_rng(7)
    demos = []
    for index in range(count):
        demo = reach_and_lift(
            rng, name=f"demo_{index}", steps=60 + index, grasp_step=34, image_size=image_size, **settings
        )
        down = Rotation.from_quat([1, 0, 0, 0]) * Rotation.from_rotvec(0.02 * np.outer(np.arange(len(demo)), [1, 2, 3]))
        quat = np.roll(down.as_quat(), 1, axis=1)
        demos.append(dataclasses.replace(demo, eef_quat_wxyz=quat))
    return demos


def write_raw(
    path: Path,
    demos: list[Demo],
    *,
    args: str | None = None,
    model: str | None = MODEL,
    annotated: bool = True,
    robomimic_extras: bool = False,
    layout: tuple[str, ...] = ("A", "A quat", "B", "to A", "to B", "A to B"),
    change: Callable[[h5py.File], None] | None = None,
) -> Path:
    """A Stack file: MimicGen's keys, and with `robomimic_extras` robomimic's rewards, dones, next_obs and masks."""
    with h5py.File(path, "w") as file:
        data = file.create_group("data")
        data.attrs["env_args"] = env_args() if args is None else args
        data.attrs["total"] = sum(map(len, demos))
        for demo in demos:
            group = data.create_group(demo.name)
            group.attrs["num_samples"] = len(demo)
            if model is not None:
                group.attrs["model_file"] = model
            _fill(group, demo, annotated, robomimic_extras, layout)
        if robomimic_extras:
            file["mask/train"] = np.array([demo.name.encode() for demo in demos[:2]])
            file["mask/valid"] = np.array([demo.name.encode() for demo in demos[2:]])
        if change is not None:
            change(file)
    return path


def _fill(group: h5py.Group, demo: Demo, annotated: bool, robomimic_extras: bool, layout: tuple[str, ...]) -> None:
    steps = len(demo)
    assert demo.object_position is not None
    hand, cube = demo.eef_position + BASE_M, demo.object_position + BASE_M
    site = Rotation.from_quat(np.roll(demo.eef_quat_wxyz, -1, axis=1))
    body = site * Rotation.from_euler("z", 90, degrees=True)  # R_site = R_body Rz(-90 deg)
    other = cube + B_FROM_A_M
    blocks = {
        "A": cube,
        "A quat": np.tile([0.0, 0.0, 0.0, 1.0], (steps, 1)),
        "B": np.concatenate([other, np.tile([0.0, 0.0, 0.0, 1.0], (steps, 1))], axis=1),
        "to A": cube - hand,
        "to B": other - hand,
        "A to B": other - cube,
    }
    group["actions"] = demo.actions
    group["states"] = np.arange(steps * 5, dtype=np.float64).reshape(steps, 5)
    observations: dict[str, np.ndarray] = {
        "robot0_eef_pos": hand,
        "robot0_eef_quat": body.as_quat(),
        "robot0_gripper_qpos": demo.gripper,
        "robot0_joint_pos": np.sin(np.arange(steps * 7)).reshape(steps, 7).astype(np.float32),
        "object": np.concatenate([blocks[name] for name in layout], axis=1),
        **{f"{camera}_image": frames[:] for camera, frames in demo.images.items()},
    }
    for key, array in observations.items():
        group.create_dataset(f"obs/{key}", data=array, compression="gzip")
    if annotated:
        group["datagen_info/eef_pose"] = _poses(hand, site)
        group["datagen_info/object_poses/cubeA"] = _poses(cube, Rotation.identity(steps))
        group["datagen_info/object_poses/cubeB"] = _poses(other, Rotation.identity(steps))
        group["datagen_info/subtask_term_signals/grasp"] = demo.subtask_signals["grasp"].astype(np.int64)
        group["datagen_info/gripper_action"] = demo.actions[:, -1:]
        group["datagen_info"].attrs["env_interface_name"] = "MG_Stack"
        group["src_demo_inds"] = np.array([3, 1])
    if robomimic_extras:
        group["rewards"] = np.linspace(0, 1, steps)
        group["dones"] = np.zeros(steps, dtype=np.int64)
        group["actions_abs"] = np.zeros((steps, 7))
        group.attrs["ep_meta"] = json.dumps({"lang": "put the red cube on the green one"})
        for key, array in observations.items():
            group[f"next_obs/{key}"] = np.concatenate([array[1:], array[-1:]])


def _poses(positions: np.ndarray, rotations: Rotation) -> np.ndarray:
    poses = np.tile(np.eye(4), (len(positions), 1, 1))
    poses[:, :3, 3], poses[:, :3, :3] = positions, rotations.as_matrix()
    return poses
