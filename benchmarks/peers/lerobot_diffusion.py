"""Run by LeRobot's own interpreter: its training program, and its sampling, on its Diffusion Policy.

    lerobot_diffusion.py train DATASET WIDTHS BATCH WARM STEPS WORKERS
    lerobot_diffusion.py sample WIDTHS BATCH CALLS

The last line printed is JSON. `train` is `lerobot_train.train` itself, told to neither save nor evaluate; the clock
reads at its updates. Both take one thread for torch's operations.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

import lerobot_alone
import torch
from lerobot.configs.default import DatasetConfig
from lerobot.configs.train import TrainPipelineConfig
from lerobot.configs.types import FeatureType, PolicyFeature
from lerobot.policies.diffusion.configuration_diffusion import DiffusionConfig
from lerobot.policies.diffusion.modeling_diffusion import DiffusionPolicy
from lerobot.scripts import lerobot_train

lerobot_alone.ready()


def train(dataset: str, widths: str, batch: str, warm: str, steps: str, workers: str) -> dict[str, float]:
    moments, update = [], lerobot_train.update_policy

    def timed(*args: object, **kwargs: object) -> object:
        done = update(*args, **kwargs)
        moments.append(time.perf_counter())
        return done

    lerobot_train.update_policy = timed
    with tempfile.TemporaryDirectory() as folder:
        config = TrainPipelineConfig(
            dataset=DatasetConfig(repo_id="local/bench", root=dataset),
            policy=DiffusionConfig(device="cpu", push_to_hub=False, down_dims=_widths(widths)),
            output_dir=Path(folder) / "run",
            batch_size=int(batch),
            num_workers=int(workers),
            steps=int(warm) + int(steps),
            save_checkpoint=False,
            eval_freq=0,
            log_freq=10**9,
            seed=0,
        )
        lerobot_train.train(config)
    return {"samples_per_s": int(steps) * int(batch) / (moments[-1] - moments[int(warm) - 1])}


def sample(widths: str, batch: str, calls: str) -> dict[str, float]:
    config = DiffusionConfig(
        device="cpu",
        down_dims=_widths(widths),
        input_features={
            "observation.state": PolicyFeature(FeatureType.STATE, (9,)),
            "observation.environment_state": PolicyFeature(FeatureType.ENV, (3,)),
        },
        output_features={"action": PolicyFeature(FeatureType.ACTION, (7,))},
    )
    torch.manual_seed(0)
    model = DiffusionPolicy(config).eval().diffusion
    seen = {
        "observation.state": torch.rand(int(batch), 2, 9),
        "observation.environment_state": torch.rand(int(batch), 2, 3),
    }
    took = []
    with torch.no_grad():
        for _ in range(int(calls)):
            begin = time.perf_counter()
            model.generate_actions(seen)
            took.append(time.perf_counter() - begin)
    return {"seconds": sorted(took)[len(took) // 2], "weights": sum(weight.numel() for weight in model.parameters())}


def _widths(text: str) -> tuple[int, ...]:
    return tuple(int(width) for width in text.split("-"))


if __name__ == "__main__":
    result = {"train": train, "sample": sample}[sys.argv[1]](*sys.argv[2:])
    print(json.dumps(result))
