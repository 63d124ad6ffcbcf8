"""Training needs neither a simulator nor anything else that a GPU machine may lack."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from train.conftest import tiny

BLOCKED = """
import sys
for name in ("mujoco", "robosuite", "numba", "gymnasium", "av", "pyarrow", "zarr", "matplotlib", "transformers"):
    sys.modules[name] = None
from sido.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


def test_training_without_a_simulator(stack: Path, tmp_path: Path):
    (tmp_path / "tiny.json").write_text(tiny(stack).to_json())
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED, "train", "--config", str(tmp_path / "tiny.json"), "-o", str(tmp_path / "run")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "run/checkpoint/last/policy.safetensors").exists()
