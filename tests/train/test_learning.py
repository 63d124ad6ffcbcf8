"""Does it learn? And only what can be learnt?"""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from golden_files import Golden
from sido.policies import (
    DiffusionPolicyConfig,
    FlowMatchingConfig,
    MlpConfig,
    build_policy,
)
from sido.train import Steps, read_metrics, train
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
