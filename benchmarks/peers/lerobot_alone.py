"""Import this before lerobot, and call `ready` after it: lerobot on CPU, on top of another environment.

LeRobot's policies for language models would import the transformers of that other environment, which wants another
huggingface_hub: while lerobot is imported, there is none. Its torchvision wheel needs a shim (see there).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import torch

os.environ |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
os.environ["OMP_NUM_THREADS"] = "1"  # for its loader processes, too
torch.set_num_threads(1)
sys.modules["transformers"] = None
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "peers"))
import torchvision_shim  # noqa: E402, F401


def ready() -> None:
    del sys.modules["transformers"]
