"""How fast is the augmentation, beside the obvious loop and beside the training step that it feeds?

    python benchmarks/augment.py
    python benchmarks/augment.py --chunks 64 --rounds 50

Everything runs in one process on one thread, in turns. What is measured is processor time, so that other programs
count little, and each figure is the median over the rounds. Targets: over 1,000,000 chunks/s once a batch is large
enough that PyTorch's cost per operation no longer rules (4,096 chunks), and under 1 % of a training step (forward,
backward, AdamW) on a batch of 256, of the smallest Diffusion Policy: the laptop preset's residual MLP, from state.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from sido.augment import Counterfactual
from sido.demos.action_spec import ACTION_SPECS, ActionSpec
from sido.demos.chunks import ChunkBatch
from sido.policies import DiffusionPolicyConfig, FlowMatchingConfig, MlpConfig, Statistics, UnetConfig, build_policy

HORIZON, ACTION_HORIZON, OBSERVATION_STEPS = 16, 8, 2
TARGET_CHUNKS_PER_S, TARGET_SHARE = 1_000_000, 0.01
LARGE = 4096
SMALLEST, SMALLEST_UNET = "training step, MLP 3 x 256", "training step, U-Net 64-128-256"


def make_batch(chunks: int, spec: ActionSpec, rng: torch.Generator) -> ChunkBatch:
    """Low-dimensional float32 data, every sample eligible: the most work that a batch can be."""
    hand = torch.rand(chunks, OBSERVATION_STEPS, 11, generator=rng)
    return ChunkBatch(
        observations={"eef_position": hand[..., :3], "eef_rot6d": hand[..., 3:9], "gripper": hand[..., 9:]},
        object_position=torch.rand(chunks, OBSERVATION_STEPS, 3, generator=rng),
        actions=torch.rand(chunks, HORIZON, spec.dim, generator=rng) * 2 - 1,
        observation_is_pad=torch.zeros(chunks, OBSERVATION_STEPS, dtype=torch.bool),
        action_is_pad=torch.zeros(chunks, HORIZON, dtype=torch.bool),
        eligible=torch.ones(chunks, dtype=torch.bool),
        held=torch.zeros(chunks, dtype=torch.bool),
        displacement=torch.zeros(chunks, 3),
        demo_index=torch.zeros(chunks, dtype=torch.int64),
        step=torch.zeros(chunks, dtype=torch.int64),
        action_spec=spec,
    )


# --- the obvious loop -------------------------------------------------------------------------------------------------


def slow_augment(batch: ChunkBatch, augment: Counterfactual, rng: torch.Generator) -> tuple[Tensor, Tensor]:
    """What one would write in `__getitem__` of a dataset: the paper's formulas, sample by sample."""
    objects, chunks, scale = batch.object_position.clone(), batch.actions.clone(), batch.action_spec.position_scale_m
    for sample in range(len(batch)):
        lottery, direction = torch.rand(2, generator=rng).tolist()
        if not batch.eligible[sample] or lottery < augment.static_ratio:
            continue
        theta = 2 * math.pi * direction
        delta = torch.tensor([math.cos(theta), math.sin(theta), 0.0]) * augment.longest_m
        objects[sample] += delta
        if batch.action_spec.kind == "absolute":
            for k in range(HORIZON):
                chunks[sample, k, :3] += min(k, ACTION_HORIZON - 1) / (ACTION_HORIZON - 1) * delta
        else:
            increments = chunks[sample, :, :3] * scale
            path = torch.cat([torch.zeros(1, 3), increments.cumsum(0)])
            length = torch.cat([torch.zeros(1), increments.norm(dim=1).cumsum(0)])
            ramp = (length / length[ACTION_HORIZON]).clamp(max=1.0)
            chunks[sample, :, :3] = (path + ramp[:, None] * delta).diff(dim=0) / scale
    return objects, chunks


# --- the smallest Diffusion Policies ----------------------------------------------------------------------------------


def training_step(denoiser: MlpConfig | UnetConfig, batch: ChunkBatch, rng: torch.Generator) -> Callable[[], None]:
    """One step of a policy from state with AdamW, as a function without arguments."""
    tables = {**batch.observations, "object_position": batch.object_position, "actions": batch.actions}
    ranges = {name: (x.flatten(0, 1).amin(dim=0), x.flatten(0, 1).amax(dim=0)) for name, x in tables.items()}
    config = DiffusionPolicyConfig(denoiser=denoiser, process=FlowMatchingConfig())
    policy = build_policy(config, Statistics(ranges), batch.action_spec).train()
    optimiser = torch.optim.AdamW(policy.parameters(), lr=1e-4, fused=True)

    def step() -> None:
        policy.loss([batch], rng).backward()
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)

    return step


# --- measuring --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    name: str
    run: Callable[[], object]
    chunks: int
    calls: int
    """How often in each round: often where it is quick, so that all medians rest on enough."""


def medians_s(rows: list[Row], rounds: int) -> dict[str, float]:
    """The median processor time of one call of each row, measured in turns."""
    durations: dict[str, list[float]] = {row.name: [] for row in rows}
    for row in rows:
        row.run()
    for _ in range(rounds):
        for row in rows:
            for _ in range(row.calls):
                start = time.process_time()
                row.run()
                durations[row.name].append(time.process_time() - start)
    return {name: statistics.median(values) for name, values in durations.items()}


def rows_of(chunks: int) -> list[Row]:
    rng = torch.Generator().manual_seed(0)
    augment = Counterfactual(prediction_horizon=HORIZON, action_horizon=ACTION_HORIZON)
    absolute = make_batch(chunks, ACTION_SPECS["rot6d-absolute"], rng)
    relative = make_batch(chunks, ACTION_SPECS["osc-delta"], rng)
    many = [make_batch(LARGE, batch.action_spec, rng) for batch in (absolute, relative)]
    return [
        Row("Counterfactual, absolute", lambda: augment(absolute, rng), chunks, 20),
        Row("Counterfactual, relative", lambda: augment(relative, rng), chunks, 20),
        Row("obvious loop, absolute", lambda: slow_augment(absolute, augment, rng), chunks, 1),
        Row("obvious loop, relative", lambda: slow_augment(relative, augment, rng), chunks, 1),
        Row(SMALLEST, training_step(MlpConfig(256, 3), absolute, rng), chunks, 2),
        Row(SMALLEST_UNET, training_step(UnetConfig((64, 128, 256)), absolute, rng), chunks, 1),
        Row(f"Counterfactual, absolute, {LARGE}", lambda: augment(many[0], rng), LARGE, 4),
        Row(f"Counterfactual, relative, {LARGE}", lambda: augment(many[1], rng), LARGE, 4),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=256, help="chunks in a batch (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=30, help="rounds to take the median of (default: %(default)s)")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    rows = rows_of(arguments.chunks)
    took = medians_s(rows, arguments.rounds)
    print(f"chunks of {HORIZON} actions, one thread, processor time, torch {torch.__version__}\n")
    print(f"{'':34}{'chunks':>8}{'us a batch':>12}{'chunks/s':>14}")
    for row in rows:
        print(f"{row.name:34}{row.chunks:8,}{1e6 * took[row.name]:12,.0f}{row.chunks / took[row.name]:14,.0f}")
    print()
    for kind in ("absolute", "relative"):
        seconds, rate = took[f"Counterfactual, {kind}"], LARGE / took[f"Counterfactual, {kind}, {LARGE}"]
        print(f"{kind}: {rate:,.0f} chunks/s, over {TARGET_CHUNKS_PER_S:,}: {_answer(rate > TARGET_CHUNKS_PER_S)}")
        share = seconds / took[SMALLEST]
        print(f"    {share:.2%} of a {SMALLEST}, under {TARGET_SHARE:.0%}: {_answer(share < TARGET_SHARE)}")
        print(f"    {seconds / took[SMALLEST_UNET]:.2%} of a {SMALLEST_UNET}")
        print(f"    {took[f'obvious loop, {kind}'] / seconds:,.0f} times as fast as the obvious loop")


def _answer(met: bool) -> str:
    return "yes" if met else "NO"


if __name__ == "__main__":
    main()
