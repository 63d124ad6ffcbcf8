"""The dynamics model: its derivatives, its steps, its folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sido.augment.dynamics import DynamicsModel
from sido.augment.dynamics.disk import load_dynamics, save_dynamics
from sido.demos.action_spec import ActionSpec
from sido.errors import DataError
from toy_robot import ABSOLUTE, RELATIVE, random_model

SPECS = {"absolute": ABSOLUTE, "relative": RELATIVE, "positions only": ActionSpec("absolute", rotation="none")}


def random_step(model: DynamicsModel, seed: int, samples: int = 5) -> tuple[torch.Tensor, torch.Tensor]:
    rng = torch.Generator().manual_seed(seed)
    states = torch.randn(model.states, samples, generator=rng, dtype=torch.float64)
    commands = 1.5 * torch.randn(model.commands, samples, generator=rng, dtype=torch.float64)
    edge = (commands.abs() - 1).abs() < 1e-3  # where the controller begins to cut, there is no derivative
    return states, torch.where(edge, 0.5, commands)


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
@settings(deadline=None, max_examples=10)
@given(seed=st.integers(0, 1000))
def test_derivatives_agree_with_finite_differences(spec: ActionSpec, seed: int):
    model = random_model(seed, spec)
    states, commands = random_step(model, seed)
    gradient = torch.randn(model.states, 4, states.shape[1], dtype=torch.float64)
    after, kept = model.linearised(states, commands)
    torch.testing.assert_close(after, model(states, commands), rtol=0, atol=1e-12)
    by_state, by_command = model.pulled_back(gradient, kept)

    def told(states: torch.Tensor, commands: torch.Tensor) -> torch.Tensor:
        return (gradient * model(states, commands)[:, None]).sum(0)

    h = 1e-5
    for row in range(model.states):
        step = torch.zeros_like(states)
        step[row] = h
        difference = (told(states + step, commands) - told(states - step, commands)) / (2 * h)
        torch.testing.assert_close(by_state[row], difference, rtol=1e-5, atol=1e-7)
    for row in range(3):
        step = torch.zeros_like(commands)
        step[row] = h
        difference = (told(states, commands + step) - told(states, commands - step)) / (2 * h)
        torch.testing.assert_close(by_command[row], difference, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_a_rollout_is_its_steps_and_velocities_are_differences(spec: ActionSpec):
    model = random_model(1, spec)
    states, _ = random_step(model, 1)
    commands = torch.stack([random_step(model, seed)[1] for seed in range(4)])
    rolled = model.rollout(states, commands)
    before = states
    for command, after in zip(commands, rolled, strict=True):
        torch.testing.assert_close(after, model(before, command), rtol=0, atol=0)
        velocity = slice(model.predicted, model.predicted + 3)
        acceleration = slice(model.predicted + 3, None)
        torch.testing.assert_close(after[velocity], after[:3] - before[:3], rtol=0, atol=1e-12)
        torch.testing.assert_close(after[acceleration], after[velocity] - before[velocity], rtol=0, atol=1e-12)
        before = after


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
@pytest.mark.parametrize("steps", [[4], [1, 3], [2]])
def test_what_is_reached_is_what_the_rollout_reaches(spec: ActionSpec, steps: list[int]):
    model = random_model(1, spec)
    states, _ = random_step(model, 1)
    commands = torch.stack([random_step(model, seed)[1] for seed in range(4)])
    before = states.clone()
    found = model.reached(states, commands[:, :3], commands[:, 3:], steps)
    wanted = model.rollout(states, commands)[[step - 1 for step in steps]]
    torch.testing.assert_close(found, wanted, rtol=0, atol=1e-12)
    assert torch.equal(states, before)


def test_relative_commands_beyond_their_range_change_nothing():
    model = random_model(2, RELATIVE)
    states, commands = random_step(model, 2)
    cut = commands.clone()
    cut[:-1] = commands[:-1].clamp(-1, 1)
    assert (cut != commands).any()
    torch.testing.assert_close(model(states, commands), model(states, cut), rtol=0, atol=0)


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_the_network_is_the_slow_obvious_one(spec: ActionSpec):
    model = random_model(3, spec)
    states, commands = random_step(model, 3)
    for n in range(states.shape[1]):
        s, a = states[:, n], commands[:, n]
        if spec.kind == "absolute":
            errors = 3 if spec.rotation == "none" else 9
            taken = torch.cat([a[:errors] - s[:errors], a[errors:]])
        else:
            taken = torch.cat([0.05 * a[:3].clamp(-1, 1), a[3:-1].clamp(-1, 1), a[-1:]])
        x = torch.cat([s, taken])
        hidden = torch.sigmoid((x - model.centre[:, 0]) / model.range[:, 0])
        for layer in (model.first, model.second):
            hidden = torch.nn.functional.silu(layer.weight @ hidden + layer.bias)
        change = (
            model.third.weight @ hidden + model.third.bias + model.slope @ x[model.predicted : -1] + model.offset[:, 0]
        )
        torch.testing.assert_close(model(states, commands)[: model.predicted, n], s[: model.predicted] + change)


def test_a_folder_keeps_the_model(tmp_path: Path):
    model = random_model(4).float()
    save_dynamics(model, tmp_path / "dynamics")
    again = load_dynamics(tmp_path / "dynamics")
    assert again.digest == model.digest
    assert again.action_spec == model.action_spec
    assert random_model(5).float().digest != model.digest


def test_damaged_folders_are_refused(tmp_path: Path):
    with pytest.raises(DataError, match="no dynamics model"):
        load_dynamics(tmp_path)
    save_dynamics(random_model(4).float(), tmp_path / "dynamics")
    file = tmp_path / "dynamics" / "dynamics.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"digest": "0"}))
    with pytest.raises(DataError, match="weights are other ones"):
        load_dynamics(tmp_path / "dynamics")
    file.write_text(json.dumps(json.loads(file.read_text()) | {"width": 7}))
    with pytest.raises(DataError, match="no dynamics model"):
        load_dynamics(tmp_path / "dynamics")
