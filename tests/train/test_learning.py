"""Does it learn? And only what can be learnt?"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
import torch

from golden_files import Golden
from sido.cli.main import main
from sido.demos import ChunkSampler, create_dataset, open_dataset
from sido.policies import (
    DiffusionPolicyConfig,
    FlowMatchingConfig,
    MlpConfig,
    ObservationWindow,
    build_policy,
    load_policy,
)
from sido.train import AdamWConfig, DataConfig, Steps, policy_folder, read_metrics, train
from sido.train.data import read_training_data
from train.conftest import tiny


def test_the_first_twenty_losses(stack: Path, tmp_path: Path, golden: Golden):
    train(tiny(stack, duration=Steps(20)), tmp_path / "run")
    losses = [float(f"{line['loss']:.4g}") for line in read_metrics(tmp_path / "run/metrics.jsonl")]
    golden.check("training_losses", "tests/train/test_learning.py: tiny(), 20 updates, 4 digits", losses)


@pytest.mark.usefixtures("as_user")
def test_one_batch_is_learnt_by_heart(stack: Path):
    """The loss goes to nearly nothing when the noise is always the same, too: nothing is in the way."""
    config = tiny(stack, augmentation=None)
    data = read_training_data(config)
    batch = data.train.batch(torch.arange(0, 160, 20))
    torch.manual_seed(0)
    policy = build_policy(
        DiffusionPolicyConfig(denoiser=MlpConfig(64, 2), process=FlowMatchingConfig()),
        data.statistics,
        data.action_spec,
    )
    adam = torch.optim.Adam(policy.parameters(), lr=3e-3)
    losses = []
    for _ in range(400):
        loss = policy.loss([batch], torch.Generator().manual_seed(0))
        adam.zero_grad()
        loss.backward()
        adam.step()
        losses.append(float(loss.detach()))
    assert losses[0] > 0.2
    assert losses[-1] < 1e-3


def error_m(run: Path, sampler: ChunkSampler) -> float:
    """How far the goals that a policy sends the hand to are from the demonstrated ones, at the end of chunks."""
    batch = sampler.batch(torch.arange(len(sampler)))
    chunk = load_policy(policy_folder(run)).predict(ObservationWindow.of(batch), torch.Generator().manual_seed(0))
    return float((chunk - batch.actions)[:, -1, :3].norm(dim=-1).median())


@pytest.mark.usefixtures("as_user")
def test_shuffled_labels_cannot_be_learnt(tmp_path: Path):
    """What is learnt from demonstrations holds for others; from their actions in disorder, it does not."""
    assert main(["synthesize", str(tmp_path / "true.hdf5"), "--demos", "24", "--actions", "osc-absolute"]) == 0
    with open_dataset(tmp_path / "true.hdf5") as dataset:
        demos = list(dataset)
        with create_dataset(tmp_path / "shuffled.hdf5", dataset.info) as writer:
            for k, demo in enumerate(demos):
                writer.write(dataclasses.replace(demo, actions=demos[k - 1].actions))
    found = {}
    for name in ("true", "shuffled"):
        config = tiny(
            tmp_path / f"{name}.hdf5", duration=Steps(300), augmentation=None, parts=1, draws=1, batch_size=64,
            log_every=300, validate_every=300, save_every=300, optimiser=AdamWConfig(3e-3, warmup_steps=20),
            policy=DiffusionPolicyConfig(denoiser=MlpConfig(64, 2)),
        )  # fmt: skip
        train(config, tmp_path / name)
        judge = read_training_data(dataclasses.replace(config, data=DataConfig(str(tmp_path / "true.hdf5"))))
        assert judge.validation is not None
        found[name] = error_m(tmp_path / name, judge.validation)
    assert found["true"] < 0.4 * found["shuffled"], found
