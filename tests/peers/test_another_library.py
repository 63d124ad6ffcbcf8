"""LeRobot's Diffusion Policy at sido's controls, in LeRobot's own environment."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from peers.environments import peer_python

ROOT = Path(__file__).resolve().parents[2]

RUN = """
import runpy, sys
import lerobot_alone
runpy.run_path(sys.argv[1], run_name="__main__")
"""


def test_lerobot_s_policy_at_the_controls(tmp_path: Path):
    done = subprocess.run(
        [peer_python("lerobot"), "-c", RUN, ROOT / "examples" / "another_library.py"],
        capture_output=True,
        text=True,
        env=os.environ
        | {
            "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT / "benchmarks" / "peers")]),
            "PYTHONWARNINGS": "ignore",
            "HF_HOME": str(tmp_path),
            "HF_HUB_OFFLINE": "1",
        },
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "after 20 steps, the hand is sent to" in done.stdout


def test_the_adapter_has_ten_lines_and_is_the_one_in_the_docs():
    source = (ROOT / "examples" / "another_library.py").read_text()
    adapter = source.split("# adapter\n")[1].split("# end of adapter")[0].strip()
    assert len([line for line in adapter.splitlines() if line.strip()]) <= 10
    assert adapter in (ROOT / "docs" / "training.md").read_text()
