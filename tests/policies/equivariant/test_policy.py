"""Turn the scene and the noise, and the chunk turns: fresh, and after training."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from torch import Tensor

from policies.equivariant.group import planar, turned_point, turned_rot6d
from policy_batches import HIGH, LOW, policy_batch, policy_statistics
from sido.demos import ACTION_SPECS, ActionSpec
from sido.errors import SettingError
from sido.geometry import matrix_from_axis_angle
from sido.policies import (
    CameraConfig,
    DiffusionConfig,
    EquivariantPolicy,
    EquivariantPolicyConfig,
    FlowMatchingConfig,
    MlpConfig,
    ObservationConfig,
    ObservationWindow,
    SmallCnnConfig,
    UnetConfig,
    build_policy,
)

torch.set_num_threads(1)

ABSOLUTE, RELATIVE = ACTION_SPECS["osc-absolute"], ACTION_SPECS["osc-delta"]
TOOL = dataclasses.replace(RELATIVE, frame="tool")
AXIS = (0.56, -0.02)
SEEING = ObservationConfig(
    "future", 1, (CameraConfig("agentview", 32, 32), CameraConfig("wrist", 24, 24)), landmarks=("cubeB",)
)
STATE = EquivariantPolicyConfig(
    ObservationConfig(landmarks=("cubeB",)), fields=16, action_fields=12, denoiser=MlpConfig(32, 2),
    process=FlowMatchingConfig(4), axis_m=AXIS,
)  # fmt: skip
UNET = EquivariantPolicyConfig(
    ObservationConfig("current", offset_features=False), fields=16, action_fields=12, axis_m=AXIS,
    denoiser=UnetConfig((16, 32), time_features=16), process=DiffusionConfig("ddim", 100, 10),
)  # fmt: skip
IMAGE = EquivariantPolicyConfig(
    SEEING, "agentview", crop=28, fields=8, wrist_encoder=SmallCnnConfig((4, 8), 8), action_fields=8,
    denoiser=MlpConfig(32, 1), process=FlowMatchingConfig(4), axis_m=AXIS,
)  # fmt: skip

CASES: dict[str, tuple[EquivariantPolicyConfig, ActionSpec, range]] = {
    "state": (STATE, ABSOLUTE, range(1, 8)),
    "state, relative": (STATE, RELATIVE, range(1, 8)),
    "state, from the hand": (dataclasses.replace(STATE, goals_from_hand=True), ABSOLUTE, range(1, 8)),
    "state, u-net, ddim": (UNET, ABSOLUTE, range(1, 8)),
    "image": (IMAGE, ABSOLUTE, range(2, 8, 2)),
}


def built(config: EquivariantPolicyConfig, spec: ActionSpec) -> EquivariantPolicy:
    torch.manual_seed(0)
    policy = build_policy(config, policy_statistics(config.observation, spec), spec)
    assert isinstance(policy, EquivariantPolicy)
    return policy


def trained(policy: EquivariantPolicy, updates: int = 40) -> EquivariantPolicy:
    batch = policy_batch(policy.config.observation, policy.action_spec, size=12)
    optimiser = torch.optim.AdamW(policy.parameters(), lr=3e-3)
    generator = torch.Generator().manual_seed(0)
    losses = []
    for _ in range(updates):
        loss = policy.loss([batch], generator)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(float(loss.detach()))
    assert np.mean(losses[-5:]) < np.mean(losses[:5]), "it learns"
    return policy.eval()


def turned_window(seen: ObservationWindow, element: int) -> ObservationWindow:
    def turned(name: str, values: Tensor) -> Tensor:
        if name.endswith("_position") or name.startswith("landmark."):
            return turned_point(values, element, AXIS)
        if name == "image.agentview":
            return torch.rot90(values, element // 2, dims=(2, 3))
        return turned_rot6d(values, element) if name == "eef_rot6d" else values

    observations = {name: turned(name, values) for name, values in seen.observations.items()}
    return ObservationWindow(observations, turned("object_position", seen.object_position))


def turned_noise(noise: Tensor, element: int, spec: ActionSpec) -> Tensor:
    rotation = turned_rot6d if spec.kind == "absolute" else turned_point
    parts = turned_point(noise[..., :3], element), rotation(noise[..., 3:-1], element), noise[..., -1:]
    return torch.cat(parts, dim=-1)


def matrices(chunk: Tensor) -> Tensor:
    return torch.from_numpy(matrix_from_axis_angle(chunk[..., 3:6].double().numpy()))


def error(policy: EquivariantPolicy, elements: range) -> float:
    """The largest over the elements, of any number: metres, entries of rotation matrices, gripper."""
    spec, config = policy.action_spec, policy.config
    seen = ObservationWindow.of(policy_batch(config.observation, spec, size=4, seed=9))
    width = 10 if spec.kind == "absolute" else 7
    noise = torch.randn(4, config.prediction_horizon, width, generator=torch.Generator().manual_seed(1))
    chunk = policy.predict_from(noise, seen, torch.Generator())
    worst = 0.0
    for element in elements:
        found = policy.predict_from(turned_noise(noise, element, spec), turned_window(seen, element), torch.Generator())
        axis = AXIS if spec.kind == "absolute" else (0.0, 0.0)
        wrong = [found[..., :3] - turned_point(chunk[..., :3], element, axis), found[..., 6:] - chunk[..., 6:]]
        turn = planar(element, dtype=torch.float64)
        expected = turn @ matrices(chunk) @ (torch.eye(3, dtype=torch.float64) if spec.kind == "absolute" else turn.T)
        wrong.append(matrices(found) - expected)
        worst = max(worst, *(float(part.abs().max()) for part in wrong))
    return worst


@pytest.mark.parametrize("name", CASES)
def test_the_chunk_turns_with_the_scene(name: str):
    config, spec, elements = CASES[name]
    policy = built(config, spec)
    assert error(policy.eval(), elements) < 1e-4
    assert error(trained(policy), elements) < 1e-4


def test_it_would_be_noticed():
    """The same measure on a policy with one weight in one direction's view, on noise not turned, about another axis."""
    policy = built(STATE, ABSOLUTE)
    policy.field.leave.turns[3, 0, 1] += 0.5
    assert error(policy, range(1, 8)) > 1e-3
    off = built(dataclasses.replace(STATE, axis_m=(0.5, 0.0)), ABSOLUTE)
    assert error(off, range(1, 8)) > 1e-3
    image = built(IMAGE, ABSOLUTE)
    assert error(image, range(1, 8, 2)) > 1e-3, "pictures that do not turn with the scene"


def test_predict_is_predict_from_its_noise():
    policy = built(STATE, ABSOLUTE)
    seen = ObservationWindow.of(policy_batch(STATE.observation, ABSOLUTE))
    generator = torch.Generator().manual_seed(4)
    noise = torch.randn(6, 16, 10, generator=torch.Generator().manual_seed(4))
    assert torch.equal(policy.predict(seen, generator), policy.predict_from(noise, seen, torch.Generator()))


@pytest.mark.parametrize("from_hand", [True, False])
def test_a_network_that_says_nothing_leaves_the_hand_where_it_is_if_it_says_ways(from_hand: bool):
    spec = ActionSpec("absolute", rotation="none")
    policy = built(dataclasses.replace(STATE, goals_from_hand=from_hand), spec)
    for weight in policy.field.leave.parameters():
        torch.nn.init.zeros_(weight)
    seen = ObservationWindow.of(policy_batch(STATE.observation, spec))
    chunk = policy.predict(seen, torch.Generator().manual_seed(0))
    hand = seen.observations["eef_position"][:, -1, :2] if from_hand else torch.tensor(AXIS)
    torch.testing.assert_close(chunk[..., :2], hand.expand(6, 2)[:, None].expand(6, 16, 2), atol=1e-5, rtol=0)


def test_without_an_axis_it_turns_about_the_middle_of_the_data():
    policy = built(dataclasses.replace(STATE, axis_m=None), ABSOLUTE)
    middle = (LOW + HIGH) / 2
    torch.testing.assert_close(policy.normaliser.normalise("eef_position", middle), torch.zeros(3), atol=1e-6, rtol=0)


def test_increments_of_the_hand_do_not_turn():
    policy = built(STATE, TOOL)
    seen = ObservationWindow.of(policy_batch(STATE.observation, TOOL, size=4, seed=9))
    noise = torch.randn(4, 16, 7)
    chunk = policy.predict_from(noise, seen, torch.Generator())
    for element in range(1, 8):
        found = policy.predict_from(noise, turned_window(seen, element), torch.Generator())
        torch.testing.assert_close(found, chunk, atol=1e-4, rtol=0)


def test_goals_in_another_frame_are_refused():
    world = dataclasses.replace(ABSOLUTE, frame="world")
    with pytest.raises(SettingError, match="one frame, to turn about one axis"):
        build_policy(STATE, None, world)
    with pytest.raises(SettingError, match="axis_m: not a place in the plane"):
        dataclasses.replace(STATE, axis_m=(0.5,))
    assert EquivariantPolicyConfig.from_json(STATE.to_json()) == STATE
