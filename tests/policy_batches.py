"""Batches of what policies see, and the statistics of such data; no demonstration behind them."""

from __future__ import annotations

import torch

from sido.demos.action_spec import ActionSpec
from sido.demos.chunks import ChunkBatch
from sido.policies import ActionForm, ObservationConfig, Statistics

LOW, HIGH = torch.tensor([0.4, -0.2, -0.1]), torch.tensor([0.7, 0.2, 0.3])


def policy_batch(
    observation: ObservationConfig, spec: ActionSpec, *, size: int = 6, horizon: int = 16, seed: int = 0
) -> ChunkBatch:
    """Random positions on the table, random rotations, random pictures."""
    rng = torch.Generator().manual_seed(seed)
    steps = observation.observation_steps

    def place(count: int) -> torch.Tensor:
        return torch.lerp(LOW, HIGH, torch.rand(size, count, 3, generator=rng))

    observations = {
        "eef_position": place(steps),
        "eef_rot6d": torch.tensor([1.0, 0.0, 0.0, 0.0, -1.0, 0.0]).expand(size, steps, 6).clone(),
        "gripper": 0.04 * torch.rand(size, steps, observation.gripper_joints, generator=rng),
    }
    observations |= {f"landmark.{name}": place(steps) for name in (*observation.landmarks, *observation.spotted)}
    for camera in observation.cameras:
        shape = (size, steps, camera.height, camera.width, 3)
        observations[f"image.{camera.name}"] = torch.randint(256, shape, generator=rng, dtype=torch.uint8)
    form = ActionForm(spec)
    goals = place(horizon) if spec.kind == "absolute" else torch.rand(size, horizon, 3, generator=rng) - 0.5
    turns = torch.zeros(size, horizon, form.size - 4)
    if form.rotation == "rot6d":
        turns += torch.tensor([1.0, 0.0, 0.0, 0.0, -1.0, 0.0])
    gripper = torch.tensor(spec.gripper_range)[torch.randint(2, (size, horizon, 1), generator=rng)]
    return ChunkBatch(
        observations=observations,
        object_position=place(steps),
        actions=form.decode(torch.cat([goals, turns, gripper], dim=-1)),
        observation_is_pad=torch.zeros(size, steps, dtype=torch.bool),
        action_is_pad=torch.zeros(size, horizon, dtype=torch.bool),
        eligible=torch.ones(size, dtype=torch.bool),
        held=torch.zeros(size, dtype=torch.bool),
        displacement=torch.zeros(size, 3),
        demo_index=torch.arange(size),
        step=torch.arange(size),
        action_spec=spec,
    )


def policy_statistics(observation: ObservationConfig, spec: ActionSpec) -> Statistics:
    """The range of `policy_batch`."""
    reach = torch.ones(spec.dim)
    reach[:3] = 0.5
    actions = (-reach, reach.clone())
    if spec.kind == "absolute":
        actions = (torch.cat([LOW, -reach[3:]]), torch.cat([HIGH, reach[3:]]))
    fingers = observation.gripper_joints
    ranges = {
        "eef_position": (LOW, HIGH),
        "gripper": (torch.zeros(fingers), torch.full((fingers,), 0.04)),
        "object_position": (LOW, HIGH),
        "actions": actions,
        "goal_ways": (LOW - HIGH, HIGH - LOW),
    }
    return Statistics(
        ranges | {f"landmark.{name}": (LOW, HIGH) for name in (*observation.landmarks, *observation.spotted)}
    )
