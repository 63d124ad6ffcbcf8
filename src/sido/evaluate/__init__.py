"""Policies are played, every step is logged, and all that is said of them comes from the logs.

| file | what it holds |
|---|---|
| `setting.py` | `Setting`: what is played, and how the policy is used |
| `stage.py` | a world and an agent of it; the predictors, corrections and horizons by name |
| `player.py` | `play`: many episodes at once |
| `rollout.py`, `rollout_file.py` | `Rollout`: an episode's log; parquet |
| `policy_source.py` | `RunPolicy`: the policy of a training run |
| `rollouts.py` | `roll_out`: what is missing is played, what there is is kept |
| `grasps.py`, `failure.py` | grasps in a log; why an episode failed |
| `measures.py`, `summary.py` | what is measured of an episode, and of many |
| `landmarks.py`, `oracle.py` | where other things are; the predictor that knows |
"""

from sido.evaluate.failure import Failure, failure_of
from sido.evaluate.measures import Measures, measure
from sido.evaluate.player import Player, PlayerOf, Portion, play
from sido.evaluate.policy_source import PolicySource, RunPolicy
from sido.evaluate.rollout import Rollout
from sido.evaluate.rollouts import Cell, Standing, cell_of, roll_out
from sido.evaluate.setting import Estimator, Setting
from sido.evaluate.stage import CORRECTIONS, HORIZONS, PREDICTORS, Stage, usual_predictor
from sido.evaluate.summary import Summary, summarise

__all__ = [
    "CORRECTIONS",
    "HORIZONS",
    "PREDICTORS",
    "Cell",
    "Estimator",
    "Failure",
    "Measures",
    "Player",
    "PlayerOf",
    "PolicySource",
    "Portion",
    "Rollout",
    "RunPolicy",
    "Setting",
    "Stage",
    "Standing",
    "Summary",
    "cell_of",
    "failure_of",
    "measure",
    "play",
    "roll_out",
    "summarise",
    "usual_predictor",
]
