"""How fast does Diffusion Policy train, beside LeRobot's? One run, side by side.

    python benchmarks/training.py
    python benchmarks/training.py --widths 512-1024-2048 --steps 4 --rounds 1

Both train on the same demonstrations, in a LeRobot dataset that sido wrote: state and object position in, chunks of 16
actions out, DDPM, the same U-Net, batch and optimiser settings, float32, one thread for torch's operations. Each runs
its own training loop as its users do: LeRobot's is `lerobot_train.train` with the loader processes of its default (4)
and with none, of which the faster counts; sido's is `sido.train.train`, which keeps a moving average of the weights
besides. The clock runs from one update to a later one, after a few to warm up; neither saves nor evaluates meanwhile.

The two take turns; each figure is the median over the rounds. Target: at least 1.5 times LeRobot's samples/s.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch

from sido import create_dataset
from sido.demos import ACTION_SPECS, DatasetInfo
from sido.demos.synthetic import reach_and_lift
from sido.policies import DiffusionConfig, DiffusionPolicyConfig, ObservationConfig, UnetConfig
from sido.train.config import AdamWConfig, DataConfig, TrainConfig
from sido.train.duration import Steps
from sido.train.loop import Standing
from sido.train.train import train

HERE = Path(__file__).resolve().parent
PEER = HERE.parent / ".venv-peers" / "lerobot" / "bin" / "python"
TARGET = 1.5
LOADERS = (0, 4)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--widths", nargs="+", default=["64-128-256", "128-256-512"], help="of the U-Nets")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--warm", type=int, default=4, help="updates before the clock starts")
    parser.add_argument("--steps", type=int, default=20, help="updates that are timed")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--demos", type=int, default=50)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        dataset = synthesize(Path(folder) / "lerobot", arguments.demos)
        print(f"batch {arguments.batch_size}, float32, one thread, torch {torch.__version__}; samples/s")
        for widths in arguments.widths:
            compare(dataset, Path(folder), widths, arguments)


def compare(dataset: Path, folder: Path, widths: str, arguments: argparse.Namespace) -> None:
    ours: list[float] = []
    theirs: dict[int, list[float]] = {loaders: [] for loaders in LOADERS}
    for turn in range(arguments.rounds):
        ours.append(our_rate(dataset, folder / f"{widths}-{turn}", widths, arguments))
        if not PEER.exists():
            continue
        for loaders in LOADERS:
            settings = [widths, arguments.batch_size, arguments.warm, arguments.steps, loaders]
            command = [PEER, "-W", "ignore", HERE / "peers" / "lerobot_diffusion.py", "train", dataset, *settings]
            done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True)
            theirs[loaders].append(json.loads(done.stdout.splitlines()[-1])["samples_per_s"])
    mine = statistics.median(ours)
    print(f"\nU-Net {widths}\n  {'sido':<30}{mine:>9,.0f}")
    if not PEER.exists():
        print("  LeRobot is not installed here: run `make peers`")
        return
    for loaders in LOADERS:
        print(f"  {f'LeRobot, {loaders} loader processes':<30}{statistics.median(theirs[loaders]):>9,.0f}")
    best = max(statistics.median(rates) for rates in theirs.values())
    print(
        f"  {mine / best:.2f} times the faster of them, at least {TARGET}: {'yes' if mine / best >= TARGET else 'NO'}"
    )


def our_rate(dataset: Path, folder: Path, widths: str, arguments: argparse.Namespace) -> float:
    config = TrainConfig(
        data=DataConfig(str(dataset)),
        policy=DiffusionPolicyConfig(
            ObservationConfig("current", offset_features=False),
            denoiser=UnetConfig(tuple(int(width) for width in widths.split("-"))),
            process=DiffusionConfig(),
        ),
        batch_size=arguments.batch_size,
        duration=Steps(arguments.warm + arguments.steps),
        optimiser=AdamWConfig(longest_gradient=10.0),
        validation_share=0.0,
        log_every=1,
        save_every=10**9,
    )
    clock = Clock()
    train(config, folder, progress=clock)
    began, ended = clock.moments[arguments.warm - 1], clock.moments[-1]
    return arguments.steps * arguments.batch_size / (ended - began)


@dataclass
class Clock:
    """Reads the time after each update."""

    moments: list[float] = field(default_factory=list)

    def __call__(self, _standing: Standing) -> None:
        self.moments.append(time.perf_counter())


def synthesize(path: Path, demos: int) -> Path:
    info = DatasetInfo("synthetic", ACTION_SPECS["osc-absolute"], object_position_source="made up")
    rng = np.random.default_rng(0)
    with create_dataset(path, info) as writer:
        for index in range(demos):
            writer.write(reach_and_lift(rng, name=f"demo_{index}", spec=ACTION_SPECS["osc-absolute"]))
    return path


if __name__ == "__main__":
    main()
