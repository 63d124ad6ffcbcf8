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
| `paired.py`, `pooled.py` | two methods on the same episodes; a method over several training seeds |
| `tracking.py`, `coverage.py` | the paper's slope; how much of a workspace is covered |
| `probe.py` | does a policy follow the channel or the pixels? |
| `landmarks.py`, `oracle.py` | where other things are; the predictor that knows |
"""

from sido.evaluate.failure import Failure, failure_of
from sido.evaluate.measures import Measures, measure
from sido.evaluate.paired import Paired
from sido.evaluate.player import Player, PlayerOf, Portion, play
from sido.evaluate.policy_source import PolicySource, RunPolicy
from sido.evaluate.pooled import Pooled
from sido.evaluate.probe import Response, Share, probe, shares
from sido.evaluate.rollout import Rollout
from sido.evaluate.rollouts import Cell, Standing, Wanted, cell_of, roll_out, roll_out_all
from sido.evaluate.setting import Estimator, Setting
from sido.evaluate.stage import CORRECTIONS, HORIZONS, Stage, usual_predictor
from sido.evaluate.summary import Summary, summarise
from sido.evaluate.tracking import Tracking

__all__ = [
    "CORRECTIONS",
    "HORIZONS",
    "Cell",
    "Estimator",
    "Failure",
    "Measures",
    "Paired",
    "Player",
    "PlayerOf",
    "PolicySource",
    "Pooled",
    "Portion",
    "Response",
    "Rollout",
    "RunPolicy",
    "Setting",
    "Share",
    "Stage",
    "Standing",
    "Summary",
    "Tracking",
    "Wanted",
    "cell_of",
    "failure_of",
    "measure",
    "play",
    "probe",
    "roll_out",
    "roll_out_all",
    "shares",
    "summarise",
    "usual_predictor",
]
