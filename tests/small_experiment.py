"""An experiment of every kind of piece, as small as can be: `small_experiment.py FOLDER` makes it, unless killed."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

from sido.experiments import EXPERIMENTS, SCALES, Method, Taught, World, reproduce
from sido.experiments.exhibits import ForecastErrors, SpeedSweep, TrackingSlope
from sido.jobs import Here

WORLDS = (World("stack"), World("stack", "x", 0.06))
SMALL = dataclasses.replace(
    SCALES["smoke"], demos={"stack": 3}, training_steps=2, training_seeds=2, teaching_steps=3, longest_s=1.2
)
EXPERIMENT = dataclasses.replace(
    EXPERIMENTS["demo"],
    methods=(
        Method("DP (cur. pose)", "dp-current-pose", "hold"),
        Method("DP + AC", "dp-current-pose", "hold", correction="ac"),
        Method("DP + SIDO", "dp-sido", Taught("mlp", "x", (0.02, 0.06), minutes=0.2)),
        Method("DynaSIDO", "dp-sido", "finite-difference", generator="gauss-newton"),
    ),
    worlds=WORLDS,
    paper={("DP + SIDO", WORLDS[0].name): 0.95},
    exhibits=(TrackingSlope(WORLDS[1]), ForecastErrors(), SpeedSweep()),
)

if __name__ == "__main__":
    reproduce(EXPERIMENT, SMALL, Path(sys.argv[1]), Here(), told=lambda task: print(task.what, flush=True))
