"""The tables and figures of the paper, and the demonstration, as declarations."""

from __future__ import annotations

import difflib

from sido.errors import SettingError
from sido.experiments.exhibits import (
    ChunkLevel,
    CollectionCost,
    ForecastErrors,
    SpeedSweep,
    TrackingSlope,
    WristViews,
)
from sido.experiments.experiment import Experiment, Method, Taught, World

__all__ = ["EXPERIMENTS", "experiment_named"]

# --- methods

DP = Method("DP", "dp", "none")
CURRENT = Method("DP (cur. pose)", "dp-current-pose", "hold")
AC = Method("DP + AC", "dp-current-pose", "hold", correction="ac")
PREDICTED = Method("DP (cur. pose) + predictor", "dp-current-pose", "finite-difference", ours=True)
FEED_FORWARD = Method("DP (cur. pose) + feed-forward", "dp-current-pose", "hold", correction="feed-forward", ours=True)
FEED_FORWARD_EARLY = Method(
    "DP (cur. pose) + feed-forward, T_a 2", "dp-current-pose", "hold", correction="feed-forward",
    reaching_action_horizon=2, ours=True,
)  # fmt: skip
SIDO = Method("DP + SIDO", "dp-sido", "finite-difference")
SIDO_CONTACT = Method(
    "DP + SIDO, contact horizon, walls", "dp-sido", "legs-and-arcs+walls", horizon="contact",
    reaching_action_horizon=2, ours=True,
)  # fmt: skip
SIDO_FEED_FORWARD = Method(
    "DP + SIDO + feed-forward", "dp-sido", "hold", correction="feed-forward", reaching_action_horizon=2, ours=True
)
DYNA = Method("DP + SIDO (DynaSIDO)", "dp-sido", "finite-difference", generator="mppi")
DYNA_NEWTON = Method(
    "DP + SIDO (DynaSIDO, Gauss-Newton)", "dp-sido", "finite-difference", generator="gauss-newton", ours=True
)
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


_PAPERS = (DP, CURRENT, AC, SIDO, DYNA, EQUI_CURRENT, EQUI_AC, EQUI_SIDO)
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
_GANTRY_X = (World("gantry", "x", 0.015),)
_RANDOM = World("gantry", "gantry", 0.015)

_FERNN_RANGE = Method(
    "DP + SIDO, FERNN", "dp-sido", Taught("fernn", "gantry", (0.015, 0.03, 0.045)), lengths="varying", reach_mps=0.045
)
_MEASURED_RANGE = Method(
    "DP + SIDO, finite difference", "dp-sido", "finite-difference-measured", lengths="varying", reach_mps=0.045,
    ours=True,
)  # fmt: skip
_MOVING = Method("DP, moving demonstrations", "dp-current-pose", "hold", trained_on="moving")

_SWAPPED: dict[str, tuple[str | Taught, bool]] = {
    "finite difference": ("finite-difference", False),
    "MLP": (Taught("mlp", "gantry", (0.015,)), False),
    "FERNN": (Taught("fernn", "gantry", (0.015,)), False),
    "Kalman": ("kalman", True),
    "last turn, walls": ("last-turn+walls", True),
    "legs and arcs, walls": ("legs-and-arcs+walls", True),
    "true future": ("true-future", True),
}
"""Predictors, and whether they are ours."""

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
        (CURRENT, AC, PREDICTED, FEED_FORWARD, SIDO, SIDO_FEED_FORWARD, SIDO_CONTACT),
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
        (CURRENT, AC, PREDICTED, FEED_FORWARD, FEED_FORWARD_EARLY, SIDO, SIDO_FEED_FORWARD, SIDO_CONTACT),
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
        "tracking",
        "Figure: the gripper tracks the object",
        "The slope of the commanded hand over the object on Gantry x: 1 follows one for one, 0 ignores its motion.",
        (DP, CURRENT, AC, FEED_FORWARD, SIDO),
        _GANTRY_X,
        paper=_rows(_GANTRY_X, DP="0.10", DP__cur__pose_="0.35", DP___AC="0.00", DP___SIDO="0.55"),
        reference="DP (cur. pose)",
        exhibits=(
            TrackingSlope(
                _GANTRY_X[0],
                paper={"": 0.62, DP.name: 0.31, CURRENT.name: 0.10, AC.name: 0.24, SIDO.name: 0.42},
            ),
        ),
    ),
    Experiment(
        "tsne",
        "Figure: wrist views stay in distribution",
        "Gantry x from images: the wrist's views in each policy's own encoder, and at the grasp attempt.",
        (DP, CURRENT, AC, SIDO),
        _GANTRY_X,
        obs="image",
        paper=_rows(_GANTRY_X, DP="0.10", DP__cur__pose_="0.35", DP___AC="0.00", DP___SIDO="0.55"),
        reference="DP (cur. pose)",
        exhibits=(WristViews(_GANTRY_X[0]),),
    ),
    Experiment(
        "speed-sweep",
        "Figure: success as the object gets faster, Stack x",
        "H-SIDO and DynaSIDO at 0 to 10 cm/s, a policy of each, trained on displacements for 2 cm/s.",
        (CURRENT, PREDICTED, FEED_FORWARD, SIDO, DYNA, DYNA_NEWTON, SIDO_FEED_FORWARD, SIDO_CONTACT),
        _SWEEP,
        paper=_rows(
            _SWEEP, DP___SIDO="0.95 0.90 0.20 0.05 0.05 0.00", DP___SIDO__DynaSIDO_="0.95 0.90 0.35 0.25 0.15 0.05"
        ),
        reference="DP + SIDO",
        exhibits=(SpeedSweep(),),
    ),
    Experiment(
        "chunk-study",
        "Table: H-SIDO and DynaSIDO at 2 cm/s, chunk by chunk",
        "Eligible chunks of static demonstrations, their object displaced, executed in the simulator; and the policies "
        "that are trained on them.",
        (SIDO, DYNA, DYNA_NEWTON),
        _SWEEP[1:2],
        paper=_rows(_SWEEP[1:2], DP___SIDO="0.90", DP___SIDO__DynaSIDO_="0.90"),
        reference="DP + SIDO",
        exhibits=(
            ChunkLevel(
                paper={
                    "static demo": (12.26, 8.10, -2.172, 0.300),
                    "H-SIDO": (12.38, 8.15, -2.139, 0.269),
                    "DynaSIDO, MPPI": (12.38, 8.16, -2.140, 0.271),
                },
            ),
        ),
    ),
    Experiment(
        "varying-velocity",
        "Table: varying velocity, Gantry random",
        "Counterfactuals of any length up to 4.5 cm/s; the predictors measure the speed. FERNN is taught on five "
        "minutes at 1.5, 3 and 4.5 cm/s.",
        (_FERNN_RANGE, _MEASURED_RANGE),
        _VELOCITIES,
        paper={
            (_FERNN_RANGE.name, world.name): rate
            for world, rate in zip(_VELOCITIES, (0.25, 0.25, 0.10, 0.40), strict=True)
        },
        reference=_FERNN_RANGE.name,
        exhibits=(ForecastErrors(),),
    ),
    Experiment(
        "moving-demonstrations",
        "Table: static demonstrations with SIDO, or moving ones",
        "A policy that is trained on demonstrations with a moving object, whose expert leads it; and what these cost.",
        (_MOVING, SIDO),
        (World("gantry"), _RANDOM),
        paper={
            (_MOVING.name, World("gantry").name): 0.80,
            (_MOVING.name, _RANDOM.name): 0.05,
            (SIDO.name, World("gantry").name): 1.00,
            (SIDO.name, _RANDOM.name): 0.25,
        },
        reference=_MOVING.name,
        exhibits=(
            CollectionCost(
                paper_rate={"static": 0.985, "moving": 0.598},
                paper_minutes={"static": 109.0, "moving": 153.0},
                paper_coverage=0.8002,
            ),
        ),
    ),
    Experiment(
        "predictors",
        "Table: predictors, the policy held fixed, Gantry random",
        "MLP and FERNN are taught on five minutes of this motion. The true future is an oracle.",
        tuple(Method(f"DP + SIDO, {name}", "dp-sido", what, ours=ours) for name, (what, ours) in _SWAPPED.items()),
        (_RANDOM,),
        paper={
            ("DP + SIDO, finite difference", _RANDOM.name): 0.25,
            ("DP + SIDO, MLP", _RANDOM.name): 0.25,
            ("DP + SIDO, FERNN", _RANDOM.name): 0.40,
        },
        reference="DP + SIDO, finite difference",
        exhibits=(
            ForecastErrors(
                {
                    "DP + SIDO, finite difference": 0.0297,
                    "DP + SIDO, MLP": 0.0221,
                    "DP + SIDO, FERNN": 0.0177,
                }
            ),
        ),
    ),
    Experiment(
        "images",
        "Stack from images",
        "The paper's setting at a laptop's scale: agent and wrist view, which also tell where other objects are.",
        (DP, CURRENT, PREDICTED, FEED_FORWARD, FEED_FORWARD_EARLY, SIDO, SIDO_FEED_FORWARD),
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
