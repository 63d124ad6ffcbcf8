"""Chunks refined such that the hand, as the dynamics model knows it, comes to where the displaced object wants it.

| file | what it holds |
|---|---|
| `reaching.py` | `Reaching`: what is given; the paper's cost |
| `refiner.py` | `Refiner`: the contract |
| `heuristic.py` | H-SIDO as it is |
| `mppi.py` | the paper's search |
| `gauss_newton.py` | a solver that uses the model's derivatives |
"""

from sido.augment.refine.gauss_newton import GaussNewton
from sido.augment.refine.heuristic import Heuristic
from sido.augment.refine.mppi import Mppi
from sido.augment.refine.reaching import Reaching, reaching_cost
from sido.augment.refine.refiner import Refined, Refiner

__all__ = ["GaussNewton", "Heuristic", "Mppi", "Reaching", "Refined", "Refiner", "reaching_cost"]
