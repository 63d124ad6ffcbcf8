"""A small dataset with everything that a file can hold, and what is known of it as a whole."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from sido.demos.action_spec import ACTION_SPECS
from sido.demos.demo import Demo, Grasp
from sido.demos.lerobot import LeRobotWriter
from sido.demos.source import DatasetInfo, Environment
from sido.demos.synthetic import reach_and_lift
from sido.geometry import Pose

INFO = DatasetInfo(
    "anything",
    ACTION_SPECS["osc-delta"],
    ("agentview", "robot0_eye_in_hand"),
    environment=Environment("Stack_D0", "1.4.1", '{"env_name": "Stack_D0"}'),
    world_from_base=Pose([-0.56, 0.0, 0.912], [1.0, 0.0, 0.0, 0.0]),
    object_position_source="datagen_info of cubeA",
    filter_keys={"train": ("demo_0", "demo_2"), "valid": ("demo_1",)},
)


def make_demo(seed: int, *, image_size: int | None = 16, steps: int = 60) -> Demo:
    """A demonstration with everything that a file can hold."""
    rng = np.random.default_rng(seed)
    demo = reach_and_lift(rng, name=f"demo_{seed}", steps=steps, grasp_step=40, image_size=image_size)
    return dataclasses.replace(
        demo,
        grasp=Grasp(40 + seed % 3, "subtask signal 'grasp'", window_start=seed % 3),
        task=("lift the cube", "lift the brick")[seed % 2],
        metadata={"model_file": "<mujoco/>", "ep_meta": '{"lang": "é"}'},
        recorded={
            "obs/object": rng.normal(size=(steps, 23)),
            "states": rng.normal(size=(steps, 45)),
            "rewards": np.linspace(0.0, 1.0, steps),
            "dones": (np.arange(steps) == steps - 1).astype(np.int64),
            "datagen_info/target_pose": rng.normal(size=(steps, 4, 4)),
            "obs/nothing": np.zeros((steps, 0), dtype=np.float32),
            "obs/depth_image": rng.integers(0, 65535, size=(steps, 2, 2, 1)).astype(np.uint16),
        },
    )


def write(path: Path, demos: Iterable[Demo], info: DatasetInfo = INFO, **options: object) -> Path:
    with LeRobotWriter(path, info, **options) as writer:
        for demo in demos:
            writer.write(demo)
    return path
