"""From demonstrations to a policy's weights.

| file | what it holds |
|---|---|
| `config.py` | `TrainConfig`: all that decides a run, as frozen data with JSON; `duration.py`: how long it lasts |
| `presets.py` | the paper's policies, at the paper's scale and a laptop's; `fitted.py`: what they leave to the data |
| `train.py` | `train`, `resume` |
| `data.py` | demonstrations to learn from, and those held out |
| `batches.py`, `randomness.py` | which transitions and which noise each update gets |
| `loop.py` | the loop; `validation.py`, `optimiser.py`, `schedule.py`, `average.py`: its parts |
| `run.py` | the folder that a run is kept in; `state.py`: a checkpoint; `metrics.py` |
| `parallel.py` | processes that train together |
| `rollouts.py` | playing with the policy while it is trained |
| `logger.py` | TensorBoard, Weights & Biases |
"""

from sido.train.config import AdamWConfig, AverageConfig, DataConfig, TrainConfig
from sido.train.duration import DemoEpochs, Duration, Epochs, Steps
from sido.train.fitted import Fitted, fit_to_data
from sido.train.logger import Logger, Loggers, make_logger
from sido.train.loop import Standing
from sido.train.metrics import read_metrics
from sido.train.parallel import ALONE, Team, joined_team, launched_by_torchrun
from sido.train.presets import METHODS, RECIPES, Method, Recipe, preset
from sido.train.rollouts import Rollouts
from sido.train.run import Run, open_run, policy_folder, read_clock
from sido.train.train import Outcome, resume, train

__all__ = [
    "ALONE",
    "METHODS",
    "RECIPES",
    "AdamWConfig",
    "AverageConfig",
    "DataConfig",
    "DemoEpochs",
    "Duration",
    "Epochs",
    "Fitted",
    "Logger",
    "Loggers",
    "Method",
    "Outcome",
    "Recipe",
    "Rollouts",
    "Run",
    "Standing",
    "Steps",
    "Team",
    "TrainConfig",
    "fit_to_data",
    "joined_team",
    "launched_by_torchrun",
    "make_logger",
    "open_run",
    "policy_folder",
    "preset",
    "read_clock",
    "read_metrics",
    "resume",
    "train",
]
