"""The contract, on every predictor; and on broken ones, which it rejects."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from contracts.predictor import check_predictor
from sido.predict import (
    Deadband,
    FiniteDifference,
    Forecast,
    History,
    Hold,
    InteractingModels,
    Kalman,
    LastTurn,
    LegsAndArcs,
    Predictor,
)

PREDICTORS: dict[str, Predictor] = {
    "hold": Hold(),
    "finite difference": FiniteDifference(speed_mps=0.02),
    "finite difference, measured": FiniteDifference(),
    "finite difference of five, in space": FiniteDifference(0.02, observations=5, planar=False),
    "kalman": Kalman(),
    "kalman, in space": Kalman(planar=False),
    "interacting models": InteractingModels(),
    "interacting models, in space": InteractingModels(planar=False),
    "last turn": LastTurn(),
    "last turn, known speed": LastTurn(speed_mps=0.03),
    "last turn, in space": LastTurn(planar=False),
    "legs and arcs": LegsAndArcs(),
    "deadband": Deadband(FiniteDifference()),
    "deadband, filtered": Deadband(InteractingModels(), observations_at_rest=12),
}


@pytest.mark.parametrize("name", PREDICTORS)
def test_keeps_the_contract(name: str):
    check_predictor(PREDICTORS[name])


BROKEN_ANSWERS = {
    "absolute": lambda history, answer, calls: dataclasses.replace(
        answer, positions=1.001 * answer.positions, path=None
    ),
    "crowded": lambda history, answer, calls: Forecast(
        1.001 * answer.positions - 0.001 * answer.positions.mean(axis=0)
    ),
    "moody": lambda history, answer, calls: Forecast(answer.positions + 1e-6 * calls),
    "wild": lambda history, answer, calls: Forecast(history.latest + 10.0 * (answer.positions - history.latest)),
    "single": lambda history, answer, calls: Forecast(answer.positions.astype(np.float32)),
    "detached": lambda history, answer, calls: dataclasses.replace(answer, path=answer.path + 0.001),
    "negative": lambda history, answer, calls: dataclasses.replace(
        answer, covariance=-np.tile(np.eye(3), (len(history), 1, 1))
    ),
    "inventive": lambda history, answer, calls: Forecast(np.nan_to_num(answer.positions)),
    "silent": lambda history, answer, calls: Forecast(
        np.where((history.count < history.valid.shape[1])[:, None], np.nan, answer.positions)
    ),
    "eager": lambda history, answer, calls: Forecast(answer.positions + 0.001 * (history.count == 1)[:, None]),
}


class Broken:
    """A predictor with one fault."""

    observations = 3

    def __init__(self, fault: str) -> None:
        self._fault, self._calls = fault, 0

    def __call__(self, history: History, horizon_s) -> Forecast:
        self._calls += 1
        sound = FiniteDifference(observations=5 if self._fault == "greedy" else 3)
        if self._fault == "ageless":
            history = dataclasses.replace(history, times_s=history.times_s - history.times_s[:, -1:])
        answer = sound(history, horizon_s)
        if self._fault == "writes" and np.ndim(horizon_s):
            horizon_s[0] += 0.1
        spoil = BROKEN_ANSWERS.get(self._fault)
        return spoil(history, answer, self._calls) if spoil else answer


FAULTS = {
    "absolute": "moves with the world",
    "crowded": "what else is in the batch",
    "moody": "the same answer",
    "wild": "never a wild prediction",
    "single": "float64",
    "writes": "not written to",
    "detached": "path ends at the forecast",
    "negative": "covariance is positive",
    "inventive": "nothing is said",
    "silent": "has an answer",
    "eager": "rests there",
    "ageless": "lengthens the way",
    "greedy": "only so many observations",
}


@pytest.mark.usefixtures("as_user")
@pytest.mark.parametrize("fault", FAULTS)
def test_the_contract_rejects_a_broken_predictor(fault: str):
    with pytest.raises(AssertionError, match=FAULTS[fault]):
        check_predictor(Broken(fault))


@pytest.mark.usefixtures("as_user")
def test_the_wrapper_itself_is_sound():
    check_predictor(Broken("none"))
