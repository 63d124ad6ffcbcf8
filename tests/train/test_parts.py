"""The parts of the loop, against the libraries that the originals took them from."""

from __future__ import annotations

import sys
import types
from pathlib import Path

import pytest
import torch
from diffusers.optimization import get_cosine_schedule_with_warmup
from diffusers.training_utils import EMAModel
from hypothesis import given
from hypothesis import strategies as st

from sido.errors import MissingExtraError, SettingError
from sido.train import AverageConfig, make_logger, train
from sido.train.average import decay_after
from sido.train.batches import Order, ahead
from sido.train.schedule import learning_rate_share
from train.conftest import tiny


@given(st.integers(0, 20), st.integers(1, 60))
def test_the_learning_rate_is_diffusers_cosine(warmup: int, extra: int):
    steps = warmup + extra
    weight = torch.nn.Parameter(torch.zeros(1))
    adam = torch.optim.AdamW([weight], lr=1.0)
    schedule = get_cosine_schedule_with_warmup(adam, warmup, steps)
    for step in range(steps):
        assert learning_rate_share(step, warmup_steps=warmup, steps=steps) == pytest.approx(
            schedule.get_last_lr()[0], abs=1e-12
        )
        adam.step()
        schedule.step()


@given(st.integers(0, 10**6))
def test_the_average_forgets_as_the_original_s(updates: int):
    """diffusers' EMAModel with diffusion_policy's settings; its steps count from 1."""
    theirs = EMAModel([torch.zeros(1)], decay=0.9999, use_ema_warmup=True, inv_gamma=1.0, power=0.75)
    assert decay_after(updates, AverageConfig()) == pytest.approx(theirs.get_decay(updates), abs=1e-12)


@given(st.integers(1, 50), st.integers(1, 70), st.integers(0, 5))
def test_every_transition_once_before_any_again(transitions: int, batch: int, seed: int):
    order = Order(transitions, batch, seed)
    batches = -(-3 * transitions // batch)
    seen = torch.cat([order.batch(number) for number in range(batches)])
    for epoch in range(3):
        part = seen[epoch * transitions : (epoch + 1) * transitions]
        assert sorted(part.tolist()) == list(range(transitions))
    late = Order(transitions, batch, seed).batch(batches - 1)
    assert torch.equal(late, order.batch(batches - 1)), "a batch follows from its number alone"


def test_every_epoch_has_an_order_of_its_own():
    first, second = Order(100, 100, 0).batch(0), Order(100, 100, 0).batch(1)
    assert not torch.equal(first, second)
    assert not torch.equal(first, Order(100, 100, 1).batch(0))


@pytest.mark.parametrize("threads", [0, 1, 3])
def test_batches_come_in_order_whoever_makes_them(threads: int):
    assert list(ahead(lambda number: number * number, range(4, 30), threads)) == [n * n for n in range(4, 30)]
    with pytest.raises(ZeroDivisionError):
        list(ahead(lambda number: 1 // (number - 7), range(10), threads))


class Writer:
    """TensorBoard's, as far as it is used."""

    told: list[tuple[str, float, int]] = []  # noqa: RUF012

    def __init__(self, folder: str, purge_step: int) -> None:
        self.place = (Path(folder).name, purge_step)

    def add_scalar(self, name: str, value: float, step: int) -> None:
        self.told.append((name, value, step))

    def close(self) -> None:
        self.told.append(("closed", 0.0, 0))


def test_loggers_are_told_what_is_measured(stack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", types.SimpleNamespace(SummaryWriter=Writer))
    begun: list[dict] = []
    run = types.SimpleNamespace(id="abc", log=lambda values, step: Writer.told.append(("wandb", 0.0, step)),
                                finish=lambda: None)  # fmt: skip
    monkeypatch.setitem(sys.modules, "wandb", types.SimpleNamespace(init=lambda **how: begun.append(how) or run))
    make = lambda *of: make_logger(("tensorboard", "wandb"), *of)  # noqa: E731
    train(tiny(stack), tmp_path / "run", logger=make)
    names = {name for name, _, _ in Writer.told}
    assert {"loss", "learning_rate", "gradient_norm", "validation_loss", "samples_per_s", "wandb", "closed"} <= names
    assert begun[0]["config"]["batch_size"] == 16
    assert (tmp_path / "run/wandb.json").exists()


def test_loggers_that_are_missing(tmp_path: Path, stack: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(
        MissingExtraError, match=r"logging to wandb needs the package 'wandb'.*pip install 'sido\[log\]'"
    ):
        make_logger(("wandb",), tmp_path, tiny(stack), 0)
    with pytest.raises(SettingError, match="unknown logger; found 'mlflow'; expected some of tensorboard, wandb"):
        make_logger(("mlflow",), tmp_path, tiny(stack), 0)
