"""Robots that demonstrations can be made of without a simulator: an arm that obeys a law that is known exactly."""

from __future__ import annotations

import copy
import dataclasses

import numpy as np
import torch

from sido.augment.dynamics import DynamicsModel, RobotMotion
from sido.augment.generate import GenerationSettings, reaching
from sido.augment.refine import Reaching
from sido.demos import Demo
from sido.demos.action_spec import ACTION_SPECS, ActionSpec
from sido.demos.demo import Grasp

ABSOLUTE, RELATIVE = ACTION_SPECS["osc-absolute"], ACTION_SPECS["osc-delta"]
PLAIN = GenerationSettings()


def linear_demo(seed: int, spec: ActionSpec = ABSOLUTE, *, grasp: int = 40, noise: float = 1.0) -> Demo:
    """A hand that obeys `p' <- 0.7 p' + 0.12 e`, with `e` the goal's distance or the increment; goals wander."""
    rng, steps = np.random.default_rng(seed), 60
    position, velocity = rng.uniform(-0.1, 0.1, 3) + np.array([0.5, 0.0, 0.1]), np.zeros(3)
    away = np.cumsum(rng.normal(0.0, 0.006 * noise, (steps, 3)), axis=0) + rng.uniform(-0.02, 0.02, 3)
    away = np.clip(away, -0.045, 0.045)
    positions, actions = np.empty((steps, 3)), np.zeros((steps, spec.dim))
    for t in range(steps):
        positions[t] = position
        actions[t, :3] = position + away[t] if spec.kind == "absolute" else away[t] / spec.position_scale_m
        velocity = 0.7 * velocity + 0.12 * away[t]
        position = position + velocity
    actions[:, -1] = np.where(np.arange(steps) < grasp, -1.0, 1.0)
    if spec.kind == "absolute":
        actions[:, 3] = np.pi
    return Demo(
        name=f"demo_{seed}",
        actions=actions,
        action_spec=spec,
        eef_position=positions,
        eef_quat_wxyz=np.tile([0.0, 1.0, 0.0, 0.0], (steps, 1)),
        gripper=np.full((steps, 2), 0.04),
        object_position=np.tile(positions[grasp], (steps, 1)),
        grasp=Grasp(grasp, "made up"),
    )


def random_model(seed: int, spec: ActionSpec = ABSOLUTE, *, width: int = 8) -> DynamicsModel:
    """A model of no robot, in double precision, whose network has something to say."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = DynamicsModel(spec, 2, width).double()
        for name, weight in model.named_parameters():
            torch.nn.init.normal_(weight, std=0.02 if name in ("slope", "offset") else 0.4)
    return model.requires_grad_(False)


def toy_reaching(
    model: DynamicsModel,
    seed: int = 0,
    *,
    chunks: int = 6,
    length_m: float = 0.05,
    settings: GenerationSettings = PLAIN,
) -> Reaching:
    """Displaced chunks of a toy demonstration; the first is not displaced."""
    rng = torch.Generator().manual_seed(seed)
    delta = torch.randn(chunks, 3, generator=rng)
    delta[:, 2] = 0
    delta = length_m * delta / delta.norm(dim=1, keepdim=True)
    delta[0] = 0
    motion = RobotMotion.of(linear_demo(seed, model.action_spec))
    task = reaching(motion, np.arange(chunks), delta, copy.deepcopy(model).float(), settings)
    changed = {
        field.name: getattr(task, field.name).to(model.slope.dtype)
        for field in dataclasses.fields(task)
        if isinstance(getattr(task, field.name), torch.Tensor)
    }
    return dataclasses.replace(task, **changed)
