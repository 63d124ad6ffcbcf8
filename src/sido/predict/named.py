"""Predictors by the names that commands take."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from pathlib import Path

from sido.errors import SettingError
from sido.predict.deadband import Deadband
from sido.predict.finite_difference import FiniteDifference
from sido.predict.hold import Hold
from sido.predict.interacting_models import InteractingModels
from sido.predict.kalman import Kalman
from sido.predict.last_turn import LastTurn
from sido.predict.legs_and_arcs import LegsAndArcs
from sido.predict.predictor import Predictor
from sido.predict.saved import load_learned

__all__ = ["AT_REST", "PREDICTORS", "predictor_named"]

AT_REST = "deadband:"
"""Before a predictor's name: what does not show that it moves rests."""

PREDICTORS: dict[str, Callable[[float | None], Predictor]] = {
    "hold": lambda _speed: Hold(),
    "finite-difference": FiniteDifference,
    "finite-difference-measured": lambda _speed: FiniteDifference(),
    "kalman": lambda _speed: Kalman(),
    "interacting-models": lambda _speed: InteractingModels(),
    "last-turn": lambda _speed: LastTurn(),
    "last-turn-known": lambda speed: LastTurn(speed or None),
    "legs-and-arcs": lambda _speed: LegsAndArcs(),
}
"""From the object's speed, where it is known; the others measure it."""


def predictor_named(name: str, speed_mps: float | None = None) -> Predictor:
    """One of `PREDICTORS`, or a learned one from its folder; `deadband:` before it holds what rests.

    Args:
        name: "kalman", "runs/fernn", "deadband:last-turn".
        speed_mps: The object's known speed, for those that are told.
    """
    if name.startswith(AT_REST):
        return Deadband(predictor_named(name.removeprefix(AT_REST), speed_mps))
    if name in PREDICTORS:
        return PREDICTORS[name](speed_mps)
    if Path(name).is_dir():
        return load_learned(Path(name))
    close = difflib.get_close_matches(name.lower(), PREDICTORS, n=1, cutoff=0.3)
    raise SettingError(
        "unknown predictor",
        found=repr(name),
        expected=f"one of {', '.join(PREDICTORS)}, or the folder of a learned one",
        fix=f"did you mean {close[0]!r}?" if close else None,
    )
