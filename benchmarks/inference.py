"""How fast are chunks sampled, beside LeRobot's Diffusion Policy? One run, side by side.

    python benchmarks/inference.py
    python benchmarks/inference.py --peer-calls 0      (without LeRobot, whose one call takes minutes)

The laptop presets at batch 1, as a robot asks for chunks: observations in, actions out, all of `predict`. Then chunks/s
at batch 50, as simulated rollouts ask for them, beside LeRobot's default (U-Net 512-1024-2048, 100 steps of DDPM) and,
to tell the network's part from the sampler's, LeRobot's and ours with the same small U-Net and 100 steps each. From
state, float32, one thread. Targets: 99 % of the laptop preset's calls under 10 ms at batch 1; at least 10 times the
chunks/s of LeRobot's default at batch 50.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import torch

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))
from policy_batches import policy_batch, policy_statistics  # noqa: E402
from sido.demos import ACTION_SPECS  # noqa: E402
from sido.policies import (  # noqa: E402
    DiffusionConfig,
    DiffusionPolicyConfig,
    ObservationConfig,
    ObservationWindow,
    Policy,
    PolicyConfig,
    UnetConfig,
    build_policy,
)
from sido.train.data import DataConfig  # noqa: E402
from sido.train.fitted import Fitted  # noqa: E402
from sido.train.presets import preset  # noqa: E402

PEER = HERE.parent / ".venv-peers" / "lerobot" / "bin" / "python"
TARGET_MS, TARGET_RATIO = 10.0, 10.0
LAPTOP = ("dp-sido", "equidp-sido")
SMALL, THEIRS = "64-128-256", "512-1024-2048"
BATCH = 50


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=500, help="at batch 1")
    parser.add_argument("--peer-calls", type=int, default=1, help="of LeRobot's default at batch 50")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    print(f"chunks of 16 actions from state, float32, one thread, torch {torch.__version__}\n\nbatch 1")
    laptop = {name: preset(name, DataConfig(""), Fitted((), 2, ("cubeB",))).policy for name in LAPTOP}
    for name, config in laptop.items():
        took_ms = 1e3 * np.array(seconds(made(config), 1, arguments.calls))
        middle, late = np.quantile(took_ms, [0.5, 0.99])
        print(
            f"  {name:<24}median {middle:6.2f} ms, p99 {late:6.2f} ms, most {took_ms.max():6.2f} ms, {len(took_ms)} "
            f"calls; p99 under {TARGET_MS:g} ms: {_answer(bool(late < TARGET_MS))}"
        )
    print(f"\nbatch {BATCH}, chunks/s")
    rates = {name: rate(made(config), 20) for name, config in laptop.items()}
    rates[f"sido, U-Net {SMALL}, DDPM 100"] = rate(made(original(SMALL)), 2)
    for name, found in rates.items():
        print(f"  {name:<34}{found:>10,.1f}")
    if arguments.peer_calls and PEER.exists():
        for widths, calls in ((SMALL, 2), (THEIRS, arguments.peer_calls)):
            theirs = peer_rate(widths, calls)
            print(f"  {f'LeRobot, U-Net {widths}, DDPM 100':<34}{theirs:>10,.2f}")
        ratio = rates[LAPTOP[0]] / theirs
        print(f"  {LAPTOP[0]}: {ratio:,.0f} times LeRobot's default, at least {TARGET_RATIO:g}: {_answer(ratio >= 10)}")


def original(widths: str) -> PolicyConfig:
    unet = UnetConfig(tuple(int(width) for width in widths.split("-")))
    return DiffusionPolicyConfig(
        ObservationConfig("current", offset_features=False), denoiser=unet, process=DiffusionConfig()
    )


def made(config: PolicyConfig) -> Policy:
    torch.manual_seed(0)
    spec = ACTION_SPECS["osc-absolute"]
    return build_policy(config, policy_statistics(config.observation, spec), spec).eval()


def seconds(policy: Policy, batch: int, calls: int) -> list[float]:
    """Of each call, after some to warm up."""
    seen = ObservationWindow.of(policy_batch(policy.config.observation, policy.action_spec, size=batch))
    generator, took = torch.Generator().manual_seed(0), []
    for _ in range(calls + min(calls, 20)):
        begin = time.perf_counter()
        policy.predict(seen, generator)
        took.append(time.perf_counter() - begin)
    return took[-calls:]


def rate(policy: Policy, calls: int) -> float:
    return BATCH / float(np.median(seconds(policy, BATCH, calls)))


def peer_rate(widths: str, calls: int) -> float:
    command = [PEER, "-W", "ignore", HERE / "peers" / "lerobot_diffusion.py", "sample", widths, BATCH, calls]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True)
    return BATCH / json.loads(done.stdout.splitlines()[-1])["seconds"]


def _answer(met: bool) -> str:
    return "yes" if met else "NO"


if __name__ == "__main__":
    main()
