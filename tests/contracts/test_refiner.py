"""The refinements keep the contract, and the contract rejects broken ones."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest
import torch

from contracts.refiner import check_refiner
from sido.augment.dynamics import DynamicsModel, FitSettings, RobotMotion, fit_dynamics
from sido.augment.refine import GaussNewton, Heuristic, Mppi, Reaching, Refined, Refiner
from sido.demos.action_spec import ActionSpec
from toy_robot import ABSOLUTE, RELATIVE, linear_demo, toy_reaching

REFINERS = [Heuristic(), Mppi(samples=16, iterations=3), Mppi(samples=16, literal_temperature=True), GaussNewton()]


@pytest.fixture(scope="module", params=[ABSOLUTE, RELATIVE], ids=["absolute", "relative"])
def model(request: pytest.FixtureRequest) -> DynamicsModel:
    return fitted(request.param)


def fitted(spec: ActionSpec) -> DynamicsModel:
    motions = [RobotMotion.of(linear_demo(seed, spec)) for seed in range(8)]
    return fit_dynamics(motions, spec, FitSettings(one_step_updates=100, rollout_updates=5, width=8, ridge=1e-4))


@pytest.mark.parametrize("refiner", REFINERS, ids=lambda refiner: refiner.kind)
@pytest.mark.parametrize("length_m", [0.004, 0.05, 1.0])
def test_refinements_keep_the_contract(refiner: Refiner, model: DynamicsModel, length_m: float):
    assert isinstance(refiner, Refiner)
    check_refiner(refiner, model, toy_reaching(model, length_m=length_m))


class Broken:
    kind = "broken"

    def __init__(self, change: Callable[[Reaching, Refined, torch.Generator], Refined]) -> None:
        self._change = change

    def __call__(self, model: DynamicsModel, task: Reaching, rng: torch.Generator) -> Refined:
        return self._change(task, Heuristic()(model, task, rng), rng)


def _shaken(task: Reaching, refined: Refined, rng: torch.Generator) -> Refined:
    return dataclasses.replace(refined, positions=refined.positions + 0.1 * (task.displacement != 0))


def _random(task: Reaching, refined: Refined, rng: torch.Generator) -> Refined:
    return dataclasses.replace(refined, positions=refined.positions + 1e-9 * torch.rand(()))


def _boasting(task: Reaching, refined: Refined, rng: torch.Generator) -> Refined:
    return dataclasses.replace(refined, cost=refined.cost / 2)


def _writing(task: Reaching, refined: Refined, rng: torch.Generator) -> Refined:
    task.seed[0, 0, 1] += 1
    return refined


@pytest.mark.parametrize("change", [_shaken, _random, _boasting, _writing])
def test_broken_refinements_are_rejected(change: Callable[..., Refined]):
    model = fitted(ABSOLUTE)
    with pytest.raises(AssertionError):
        check_refiner(Broken(change), model, toy_reaching(model))
