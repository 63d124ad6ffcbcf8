"""A first look at sido in half a minute: demonstrations, what is in them, counterfactual batches, pictures.

    python examples/first_look.py [FOLDER]

Runs on synthetic demonstrations, without a simulator. With your own dataset the same calls apply.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch

import sido
from sido.cli.main import main as run


def first_look(folder: Path) -> None:
    dataset_path = folder / "stack.hdf5"
    run(["synthesize", str(dataset_path), "--demos", "40", "--image-size", "64", "--force"])
    run(["inspect", str(dataset_path), "--plot", str(folder / "dataset.png")])
    run(["augment", str(dataset_path), "--show", "8", "--out", str(folder / "counterfactuals.png")])

    with sido.open_dataset(dataset_path) as dataset:
        sampler = sido.ChunkSampler(dataset.map(sido.to_absolute))
    augment = sido.Counterfactual(step_speed_m=0.001, prediction_horizon=16, action_horizon=8, static_ratio=0.2)
    rng = torch.Generator().manual_seed(0)
    batch = augment(sampler.sample(256, rng), rng)
    moved = (batch.displacement != 0).any(dim=1)
    print(f"a batch of {len(batch)}: {int(batch.eligible.sum())} eligible, {int(moved.sum())} displaced")
    print(f"pictures: {folder}/dataset.png and {folder}/counterfactuals.png")


if __name__ == "__main__":
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "demo")
    target.mkdir(parents=True, exist_ok=True)
    first_look(target)
