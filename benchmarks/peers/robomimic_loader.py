"""robomimic's half of `load.py`; runs in robomimic's own environment: FILE BATCH_SIZE SECONDS WORKERS."""

from __future__ import annotations

import contextlib
import io
import json
import sys
import time
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "peers"))
import torchvision_shim  # noqa: F401  # before robomimic, which imports torchvision

with contextlib.redirect_stdout(io.StringIO()):
    import robomimic.utils.obs_utils as obs_utils
    from robomimic.utils.dataset import SequenceDataset

KEYS = ("robot0_eef_pos", "robot0_eef_quat", "robot0_gripper_qpos", "object_position")


def main(path: str, batch_size: int, seconds: float, workers: int) -> None:
    torch.set_num_threads(1)
    start = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        obs_utils.initialize_obs_utils_with_obs_specs({"obs": {"low_dim": list(KEYS), "rgb": []}})
        dataset = SequenceDataset(
            hdf5_path=path,
            obs_keys=KEYS,
            dataset_keys=("actions",),
            frame_stack=2,
            seq_length=16,
            pad_frame_stack=True,
            pad_seq_length=True,
            get_pad_mask=True,
            hdf5_cache_mode="all",
            hdf5_use_swmr=False,
            load_next_obs=False,
        )
    loading = time.perf_counter() - start
    loader = torch.utils.data.DataLoader(dataset, batch_size, shuffle=True, num_workers=workers)
    drawn, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        for batch in loader:
            drawn += len(batch["actions"])
            if time.perf_counter() - start >= seconds:
                break
    spent = time.perf_counter() - start
    print(json.dumps({"samples_per_second": drawn / spent, "loading_s": loading}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]))
