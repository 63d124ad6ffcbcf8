"""Collects, with versions that do not change while the tests run; for a process that is killed."""

from __future__ import annotations

import sys
from pathlib import Path

from clumsy import Clumsy
from sido.jobs import Here, Processes
from sido.sim.collect import Recipe, Standing, collect


def tell(standing: Standing) -> None:
    print(standing.attempts, flush=True)


if __name__ == "__main__":
    output, demos, workers = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    crew = Here() if workers == 1 else Processes(workers)
    recipe = Recipe("stack", demos)
    collect(recipe, output, crew, progress=tell, expert=Clumsy, made_with={"sido": "test"}, batch=2)
    print("done", flush=True)
