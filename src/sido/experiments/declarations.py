"""The tables and figures of the paper, and the demonstration, as declarations."""

from __future__ import annotations

import difflib

from sido.errors import SettingError
from sido.experiments.experiment import Experiment, Method, Scale, World

__all__ = ["EXPERIMENTS", "SCALES", "experiment_named"]

_PAPER_DEMOS = {"stack": 200, "square": 1000, "mug": 1000, "gantry": 64, "peachtree": 25}

SCALES: dict[str, Scale] = {
    "smoke": Scale("smoke", dict.fromkeys(_PAPER_DEMOS, 4), 1, 2, "cpu", training_steps=20),
    "demo": Scale("demo", {**_PAPER_DEMOS, "square": 200, "mug": 200}, 1, 20, "cpu"),
    "cpu": Scale("cpu", {**_PAPER_DEMOS, "square": 200, "mug": 200}, 3, 100, "cpu"),
    "paper": Scale("paper", _PAPER_DEMOS, 3, 100, "paper", image_px=84),
}

# --- methods

DP = Method("DP", "dp", "none")
CURRENT = Method("DP (cur. pose)", "dp-current-pose", "hold")
AC = Method("DP + AC", "dp-current-pose", "hold", correction="ac")
PREDICTED = Method("DP (cur. pose) + predictor", "dp-current-pose", "finite-difference", ours=True)
FEED_FORWARD = Method("DP (cur. pose) + feed-forward", "dp-current-pose", "hold", correction="feed-forward", ours=True)
SIDO = Method("DP + SIDO", "dp-sido", "finite-difference")
SIDO_CONTACT = Method(
    "DP + SIDO, contact horizon, walls", "dp-sido", "last-turn+walls", horizon="contact", reaching_action_horizon=2,
    ours=True,
)  # fmt: skip
EQUI_CURRENT = Method("EquiDP (cur. pose)", "equidp-current-pose", "hold")
EQUI_AC = Method("EquiDP + AC", "equidp-current-pose", "hold", correction="ac")
EQUI_SIDO = Method("EquiDP + SIDO", "equidp-sido", "finite-difference")

# --- worlds

_PATTERNS = ("x", "y", "circle", "random")


def _simulated(task: str, speed_mps: float = 0.02) -> tuple[World, ...]:
    return (World(task), *(World(task, motion, speed_mps) for motion in _PATTERNS))


def _rows(worlds: tuple[World, ...], **rows: str) -> dict[tuple[str, str], float]:
    """Of a table of the paper: numbers by method, in the order of the worlds; "--" where it has none."""
    names = {method.name.translate(str.maketrans(" +().-", "______")): method.name for method in _PAPERS}
    return {
        (names[row], world.name): float(cell)
        for row, cells in rows.items()
        for world, cell in zip(worlds, cells.split(), strict=True)
        if cell != "--"
    }


_PAPERS = (DP, CURRENT, AC, SIDO, EQUI_CURRENT, EQUI_AC, EQUI_SIDO)
_ALL = (*_simulated("mug"), *_simulated("square"), *_simulated("stack"))
_GANTRY = tuple(
    World("gantry", motion, 0.015 if motion != "still" else 0.0) for motion in ("still", "x", "y", "gantry")
)
_PEACHTREE = (World("peachtree"), World("peachtree", "peachtree", 0.015))
_SWEEP = (World("stack"), *(World("stack", "x", speed / 100) for speed in (2, 4, 6, 8, 10)))
_VELOCITIES = (
    World("gantry", "gantry", 0.015),
    World("gantry", "gantry", 0.03),
    World("gantry", "gantry", 0.045),
    World("gantry", "variable-speed", 0.03),
)
_FERNN_RANGE = Method("DP + SIDO", "dp-sido", "finite-difference-measured", generator="varying", reach_mps=0.045)

_DEMO_WORLDS = (
    World("stack"),
    World("stack", "x", 0.02),
    World("stack", "x", 0.06),
    World("stack", "y", 0.06),
    World("stack", "circle", 0.06),
    World("stack", "random", 0.06),
    World("stack", "x", 0.1),
)

_DECLARED = (
    Experiment(
        "demo",
        "Static in, dynamic out",
        "Two policies, trained on the same static demonstrations of Stack, from state; the object then moves.",
        (CURRENT, AC, PREDICTED, FEED_FORWARD, SIDO, SIDO_CONTACT),
        _DEMO_WORLDS,
        reference="DP (cur. pose)",
    ),
    Experiment(
        "table-1",
        "Table 1: three tasks, five motions",
        "The paper's main table, and the two baselines that it leaves out.",
        (CURRENT, AC, PREDICTED, FEED_FORWARD, SIDO, EQUI_CURRENT, EQUI_AC, EQUI_SIDO),
        _ALL,
        paper=_rows(
            _ALL,
            DP__cur__pose_="0.20 0.10 0.00 0.15 0.15  0.60 0.00 0.20 0.15 0.20  1.00 0.15 0.40 0.35 0.65",
            DP___AC="-- 0.00 0.10 0.10 0.10  -- 0.30 0.00 0.35 0.20  -- 0.15 0.30 0.40 0.60",
            DP___SIDO="0.25 0.35 0.20 0.20 0.30  0.60 0.50 0.40 0.40 0.55  0.95 0.90 0.65 0.65 0.95",
            EquiDP__cur__pose_="0.35 0.35 0.05 0.05 0.15  0.60 0.10 0.05 0.05 0.10  0.95 0.35 0.55 0.25 0.65",
            EquiDP___AC="-- 0.35 0.05 0.05 0.15  -- 0.05 0.00 0.05 0.20  -- 0.35 0.55 0.65 0.90",
            EquiDP___SIDO="0.50 0.10 0.05 0.00 0.00  0.60 0.20 0.10 0.20 0.20  0.95 0.70 0.70 0.75 0.95",
        ),
        reference="DP (cur. pose)",
    ),
    Experiment(
        "stack",
        "Stack, five motions at 2, 4 and 6 cm/s",
        "The part of Table 1 in which most succeeds, and where speed begins to tell.",
        (CURRENT, AC, PREDICTED, FEED_FORWARD, SIDO, SIDO_CONTACT),
        tuple(dict.fromkeys(world for speed in (0.02, 0.04, 0.06) for world in _simulated("stack", speed))),
        reference="DP (cur. pose)",
    ),
    Experiment(
        "gantry",
        "Table 2: Gantry",
        "A capsule on a gantry, put into a box. The paper's is a real robot; ours is its digital twin.",
        (DP, CURRENT, AC, PREDICTED, FEED_FORWARD, SIDO),
        _GANTRY,
        paper=_rows(  # the paper's static cells are those of its random demonstrations
            _GANTRY,
            DP="0.80 0.10 0.35 0.15",
            DP__cur__pose_="0.90 0.35 0.50 0.20",
            DP___AC="-- 0.00 0.30 0.00",
            DP___SIDO="1.00 0.55 0.65 0.25",
        ),
        reference="DP (cur. pose)",
    ),
    Experiment(
        "peachtree",
        "Table 3: Peachtree",
        "A peach on a swaying tree, dropped into a basket. The paper's is a real robot; ours is its digital twin.",
        (DP, CURRENT, AC, PREDICTED, FEED_FORWARD, SIDO),
        _PEACHTREE,
        paper=_rows(_PEACHTREE, DP="0.65 0.30", DP__cur__pose_="0.90 0.45", DP___AC="-- 0.30", DP___SIDO="0.75 0.60"),
        reference="DP (cur. pose)",
    ),
    Experiment(
        "speed-sweep",
        "Figure: success as the object gets faster, Stack x",
        "H-SIDO at 0 to 10 cm/s. The paper's other column, DynaSIDO, is the chunk study's (docs/log.md).",
        (CURRENT, PREDICTED, FEED_FORWARD, SIDO, SIDO_CONTACT),
        _SWEEP,
        paper=_rows(_SWEEP, DP___SIDO="0.95 0.90 0.20 0.05 0.05 0.00"),
        reference="DP (cur. pose)",
    ),
    Experiment(
        "varying-velocity",
        "Table: varying velocity, Gantry random",
        "Counterfactuals of any length up to 4.5 cm/s; the predictor measures the speed. (The paper's has FERNN: "
        "`sido predictor fit`, then `sido evaluate --predictor FOLDER`.)",
        (_FERNN_RANGE,),
        _VELOCITIES,
        paper=_rows(_VELOCITIES, DP___SIDO="0.25 0.25 0.10 0.40"),
    ),
    Experiment(
        "moving-demonstrations",
        "Table: static demonstrations with SIDO, or moving ones",
        "A policy that is trained on demonstrations with a moving object, whose expert leads it.",
        (Method("DP, moving demonstrations", "dp-current-pose", "hold", trained_on="moving"), SIDO),
        (World("gantry"), World("gantry", "gantry", 0.015)),
        paper={
            ("DP, moving demonstrations", World("gantry").name): 0.80,
            ("DP, moving demonstrations", World("gantry", "gantry", 0.015).name): 0.05,
            ("DP + SIDO", World("gantry").name): 1.00,
            ("DP + SIDO", World("gantry", "gantry", 0.015).name): 0.25,
        },
        reference="DP, moving demonstrations",
    ),
    Experiment(
        "predictors",
        "Table: predictors, the policy held fixed, Gantry random",
        "With forecast errors. Learned predictors (MLP, FERNN) are fitted with `sido predictor fit`.",
        tuple(
            Method(f"DP + SIDO, {name}", "dp-sido", name, ours=name != "finite-difference")
            for name in ("finite-difference", "kalman", "last-turn+walls", "true-future")
        ),
        (World("gantry", "gantry", 0.015),),
        paper={("DP + SIDO, finite-difference", World("gantry", "gantry", 0.015).name): 0.25},
        reference="DP + SIDO, finite-difference",
    ),
    Experiment(
        "images",
        "Stack from images",
        "The paper's setting: agent and wrist view, no offset features, other objects from the pictures alone.",
        (DP, CURRENT, PREDICTED, FEED_FORWARD, SIDO),
        (
            World("stack"),
            *(World("stack", motion, speed) for speed in (0.02, 0.04, 0.06) for motion in ("x", "random")),
        ),
        obs="image",
        reference="DP (cur. pose)",
    ),
)

EXPERIMENTS: dict[str, Experiment] = {experiment.name: experiment for experiment in _DECLARED}
"""By the name that `sido reproduce` takes."""


def experiment_named(name: str) -> Experiment:
    """One of `EXPERIMENTS`.

    Raises:
        SettingError: there is none of that name.
    """
    if name not in EXPERIMENTS:
        close = difflib.get_close_matches(name, EXPERIMENTS, n=1, cutoff=0.0)
        raise SettingError(
            "unknown experiment",
            found=repr(name),
            expected=f"all, or one of {', '.join(EXPERIMENTS)}",
            fix=f"did you mean {close[0]!r}?",
        )
    return EXPERIMENTS[name]
