"""What each refinement promises beyond the contract."""

from __future__ import annotations

import dataclasses
import math

import pytest
import torch

from sido.augment.dynamics import DynamicsModel, FitSettings, RobotMotion, fit_dynamics
from sido.augment.generate import GenerationSettings
from sido.augment.refine import GaussNewton, Heuristic, Mppi, reaching_cost
from sido.augment.refine.gauss_newton import linearised
from sido.errors import DataError, SettingError
from toy_robot import ABSOLUTE, RELATIVE, linear_demo, random_model, toy_reaching


@pytest.fixture(scope="module", params=[ABSOLUTE, RELATIVE], ids=["absolute", "relative"])
def model(request: pytest.FixtureRequest) -> DynamicsModel:
    motions = [RobotMotion.of(linear_demo(seed, request.param)) for seed in range(8)]
    return fit_dynamics(
        motions, request.param, FitSettings(one_step_updates=100, rollout_updates=5, width=8, ridge=1e-4)
    )


def rng() -> torch.Generator:
    return torch.Generator().manual_seed(0)


@pytest.mark.parametrize("spec", [ABSOLUTE, RELATIVE], ids=["absolute", "relative"])
@pytest.mark.parametrize("action_horizon", [5, 16])
def test_residuals_and_their_derivatives_agree_with_autograd(spec, action_horizon: int):
    model = random_model(0, spec)
    task = dataclasses.replace(toy_reaching(model), action_horizon=action_horizon)
    positions = task.seed[:, :3].clone().requires_grad_(True)
    rolled = model.rollout(task.start, task.told(positions))
    velocity = slice(model.predicted, model.predicted + 3)
    reached = torch.stack(
        [torch.cat([rolled[k - 1, :3], rolled[k - 1, velocity]]) for k in (action_horizon, len(task.seed))]
    )
    wanted = reached - torch.cat([task.targets, task.velocities], dim=1)
    found = linearised(model, task, positions.detach())
    torch.testing.assert_close(found.residuals, wanted.detach())
    for row, residual in enumerate(wanted.flatten(0, 1)):
        (slopes,) = torch.autograd.grad(residual.sum(), positions, retain_graph=True)
        torch.testing.assert_close(found.slopes[row], slopes)


def test_the_cost_is_the_papers(model: DynamicsModel):
    task = toy_reaching(model)
    cost = reaching_cost(model, task, task.seed[:, :3])
    for n in range(len(task)):
        state, total = task.start[:, n : n + 1], 0.0
        for k, command in enumerate(task.seed[:, :, n], start=1):
            state = model(state, command[:, None])
            for which, horizon in enumerate((8, 16)):
                if k == horizon:
                    total += float((state[:3, 0] - task.targets[which, :, n]).square().sum())
        assert float(cost[n]) == pytest.approx(total, rel=1e-4, abs=1e-12)


def test_gauss_newton_reaches_what_can_be_reached(model: DynamicsModel):
    task = toy_reaching(model, length_m=0.01)
    refined = GaussNewton()(model, task, rng())
    assert float(refined.cost[1:].max().sqrt()) < 5e-4
    assert (refined.cost[1:] < 0.01 * refined.seed_cost[1:]).all()


def test_both_refinements_gain_and_gauss_newton_gains_more(model: DynamicsModel):
    task = toy_reaching(model, length_m=0.01)
    heuristic, mppi, newton = (
        refiner(model, task, rng()).cost[1:].median() for refiner in (Heuristic(), Mppi(), GaussNewton())
    )
    assert newton <= mppi < 0.3 * heuristic


def test_relative_commands_stay_within_their_range():
    motions = [RobotMotion.of(linear_demo(seed, RELATIVE)) for seed in range(8)]
    model = fit_dynamics(motions, RELATIVE, FitSettings(one_step_updates=20, rollout_updates=5, width=8))
    task = toy_reaching(model, length_m=0.3)
    refined = GaussNewton()(model, task, rng())
    changed = (refined.positions != task.seed[:, :3]).flatten(0, 1).any(0)
    assert changed.any()
    assert float(refined.positions[..., changed].abs().max()) <= 1.0


@pytest.mark.parametrize("refiner", [GaussNewton(), Mppi(samples=32, iterations=4)], ids=lambda refiner: refiner.kind)
def test_chunks_do_not_depend_on_how_many_are_worked_on_together(model: DynamicsModel, refiner: GaussNewton | Mppi):
    task = toy_reaching(model, chunks=7)
    at_once = {"chunks_at_once": 3} if isinstance(refiner, GaussNewton) else {"samples_at_once": 96}
    together, apart = refiner(model, task, rng()), dataclasses.replace(refiner, **at_once)(model, task, rng())
    if isinstance(refiner, GaussNewton):
        torch.testing.assert_close(together.positions, apart.positions, rtol=1e-3, atol=2e-4)
    assert together.positions.shape == apart.positions.shape


def test_a_longer_search_is_never_worse(model: DynamicsModel):
    task = toy_reaching(model)
    short, long = (Mppi(samples=32, iterations=n)(model, task, rng()).cost for n in (1, 5))
    assert (long <= short).all()


def test_the_anchor_moves_targets_by_what_the_model_is_off_by():
    model = random_model(0).float()
    literal = toy_reaching(model, settings=GenerationSettings(anchored=False))
    anchored = toy_reaching(model, settings=GenerationSettings(anchored=True))
    demonstrated = torch.cat([literal.demonstrated, literal.seed[:, 3:]], dim=1)
    rolled = model.rollout(literal.start, demonstrated)[[7, 15], :3]
    torch.testing.assert_close(anchored.targets, rolled + literal.displacement)
    assert not torch.allclose(anchored.targets, literal.targets)
    motion = RobotMotion.of(linear_demo(0))
    for n in range(len(literal)):
        wanted = torch.tensor(motion.states[[n + 8, n + 16], :3]).float() + literal.displacement[:, n]
        torch.testing.assert_close(literal.targets[..., n], wanted)


@pytest.mark.parametrize("refiner", [Heuristic(), GaussNewton(), Mppi(samples=4)], ids=lambda refiner: refiner.kind)
def test_costs_that_are_no_numbers_are_refused(refiner: Heuristic | GaussNewton | Mppi):
    model = random_model(0).float()
    task = toy_reaching(model)
    model.offset.fill_(math.nan)
    with pytest.raises(DataError, match="cost of chunk 0: the dynamics model foretells no finite path; found nan"):
        refiner(model, task, rng())


@pytest.mark.parametrize("wrong", [{"samples": 1}, {"iterations": 0}, {"temperature": 0.0}, {"late_noise": -1.0}])
def test_settings_of_mppi_are_checked(wrong: dict[str, float]):
    with pytest.raises(SettingError, match="Mppi"):
        Mppi(**wrong)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("wrong", [{"iterations": 0}, {"position_m": 0.0}, {"smoothness": math.inf}])
def test_settings_of_gauss_newton_are_checked(wrong: dict[str, float]):
    with pytest.raises(SettingError, match="GaussNewton"):
        GaussNewton(**wrong)  # pyright: ignore[reportArgumentType]


def test_horizons_that_do_not_fit_are_refused():
    task = toy_reaching(random_model(0).float())
    with pytest.raises(SettingError, match="action_horizon"):
        dataclasses.replace(task, action_horizon=17)
