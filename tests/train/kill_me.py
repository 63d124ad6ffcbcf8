"""Trains the run in a config file, until somebody kills it: `kill_me.py CONFIG FOLDER`."""

import sys
from pathlib import Path

from sido.train import TrainConfig, train

train(TrainConfig.from_json(Path(sys.argv[1]).read_bytes()), Path(sys.argv[2]))
