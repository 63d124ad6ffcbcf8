"""TensorBoard and Weights & Biases themselves, each in a process of its own, as they start threads and warn freely."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sido.train import train
from train.conftest import tiny

_LOG = """
import sys
from pathlib import Path
from sido.train import TrainConfig
from sido.train.logger import make_logger

name, folder, step = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
logger = make_logger([name], folder, TrainConfig.from_json((folder / "config.json").read_bytes()), step)
for k in range(step + 1, step + 4):
    logger.log(k, {"loss": 1.0 / k})
logger.close()
"""

_READ = """
import sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
seen = EventAccumulator(sys.argv[1])
seen.Reload()
print([(event.step, round(event.value, 6)) for event in seen.Scalars("loss")])
"""


@pytest.fixture
def run(stack: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    train(tiny(stack), folder)
    return folder


def _python(code: str, *arguments: object) -> str:
    offline = {**os.environ, "WANDB_MODE": "offline", "WANDB_SILENT": "true"}
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, env=offline, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_tensorboard_reads_back_what_was_logged_and_hides_what_is_measured_again(run: Path):
    _python(_LOG, "tensorboard", run, 0)
    _python(_LOG, "tensorboard", run, 1)  # a run that was killed after step 3, and goes on from its checkpoint at 1
    told = [(1, 1.0), (2, 0.5), (3, round(1 / 3, 6)), (4, 0.25)]
    assert _python(_READ, run / "tensorboard").strip() == str(told)


def test_wandb_goes_on_with_the_same_run(run: Path):
    _python(_LOG, "wandb", run, 0)
    identity = json.loads((run / "wandb.json").read_text())["id"]
    _python(_LOG, "wandb", run, 3)
    assert json.loads((run / "wandb.json").read_text())["id"] == identity
    kept = sorted((run / "wandb").glob(f"offline-run-*-{identity}/run-{identity}.wandb"))
    assert len(kept) == 2
    assert all(b"loss" in file.read_bytes() for file in kept)
