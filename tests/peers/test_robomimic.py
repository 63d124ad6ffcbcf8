"""robomimic reads what sido writes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from peers.environments import peer_python
from sido.demos.action_spec import ACTION_SPECS, ActionSpec
from sido.demos.demo import Demo
from sido.demos.robomimic import RobomimicWriter
from sido.demos.source import DatasetInfo, Environment
from sido.demos.synthetic import reach_and_lift
from sido.geometry import Pose

WORLD_FROM_BASE = Pose((-0.56, 0.0, 0.912), (1.0, 0.0, 0.0, 0.0))


CASES: dict[str, tuple[ActionSpec, Environment | None]] = {
    "relative, 1.4": (ACTION_SPECS["osc-delta"], Environment("Stack_D0", "1.4.1")),
    "absolute, 1.4": (ACTION_SPECS["osc-absolute"], Environment("Stack_D0", "1.4.1")),
    "absolute, 1.5": (ACTION_SPECS["osc-absolute"], Environment("Stack", "1.5.2")),
    "a real robot": (ACTION_SPECS["osc-delta"], None),
}


def test_robomimics_dataset_gives_what_was_written(tmp_path: Path) -> None:
    demos = {name: _write(tmp_path / f"{name}.hdf5", *case) for name, case in CASES.items()}

    answers = dict(zip(CASES, _ask([tmp_path / f"{name}.hdf5" for name in CASES]), strict=True))

    for name, (spec, environment) in CASES.items():
        answer = answers[name]
        assert answer["demos"] == ["demo_0", "demo_1", "demo_2"]
        assert answer["steps"] == answer["total"] == 50 + 51 + 52
        assert answer["masks"] == {"train": 50 + 52}
        assert answer["action_dim"] == spec.dim
        assert answer["env_type"] == (2 if environment is None else 1)
        assert answer["shapes"]["agentview_image"] == [3, 12, 12]
        for key, arrays in _expected(demos[name], environment).items():
            expected = _weighted_sum(demos[name], arrays)
            assert answer["sums"][key] == pytest.approx(expected, rel=1e-5, abs=1e-3), (name, key)


def _write(path: Path, spec: ActionSpec, environment: Environment | None) -> list[Demo]:
    rng = np.random.default_rng(0)
    demos = [
        reach_and_lift(rng, name=f"demo_{index}", steps=50 + index, grasp_step=30, spec=spec, image_size=12)
        for index in range(3)
    ]
    info = DatasetInfo(
        "synthetic",
        spec,
        environment=environment,
        world_from_base=None if environment is None else WORLD_FROM_BASE,
        filter_keys={"train": ("demo_0", "demo_2")},
    )
    with RobomimicWriter(path, info) as writer:
        for demo in demos:
            writer.write(demo)
    return demos


def _expected(demos: list[Demo], environment: Environment | None) -> dict[str, list[Any]]:
    """What robomimic's users expect under its names: positions in the world."""
    offset = np.zeros(3) if environment is None else WORLD_FROM_BASE.position
    goals_in_world = environment is not None and environment.version == "1.4.1"
    moved = np.zeros(7)
    if goals_in_world and demos[0].action_spec.kind == "absolute":
        moved[:3] = offset
    return {
        "actions": [demo.actions + moved for demo in demos],
        "robot0_eef_pos": [demo.eef_position + offset for demo in demos],
        "object_position": [demo.object_position + offset for demo in demos],
        "robot0_gripper_qpos": [demo.gripper for demo in demos],
        "agentview_image": [demo.images["agentview"][:].astype(np.float64) for demo in demos],
        "robot0_eye_in_hand_image": [demo.images["robot0_eye_in_hand"][:].astype(np.float64) for demo in demos],
        "dones": [np.eye(len(demo))[-1] for demo in demos],
    }


def _weighted_sum(demos: list[Demo], arrays: list[np.ndarray]) -> float:
    """Each step's sum times its number in the dataset, as the script does it."""
    rows = np.concatenate([array.reshape(len(demo), -1).sum(axis=1) for demo, array in zip(demos, arrays, strict=True)])
    return float((rows * np.arange(1, len(rows) + 1)).sum())


def _ask(paths: list[Path]) -> list[dict[str, Any]]:
    script = Path(__file__).with_name("read_robomimic.py")
    command = [str(peer_python("robomimic")), str(script), *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
