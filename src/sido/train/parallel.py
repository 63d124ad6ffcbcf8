"""Processes that train one policy together: each works on some parts of every batch."""

from __future__ import annotations

import datetime
import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import final

import torch
import torch.distributed as distributed
from torch import Tensor

from sido.errors import SettingError

__all__ = ["ALONE", "Team", "joined_team", "launched_by_torchrun"]

_PATIENCE = datetime.timedelta(hours=2)  # the first process decodes images, and validates, while the others wait


@final
@dataclass(frozen=True)
class Team:
    """A process and those that it works with."""

    rank: int
    size: int

    @property
    def leads(self) -> bool:
        """Whether this is the one that writes and reports."""
        return self.rank == 0

    def share(self, parts: int) -> range:
        """Which parts of a batch this process works on."""
        if parts % self.size:
            raise SettingError(
                "the parts of a batch cannot be shared out among the processes",
                field="parts",
                found=parts,
                expected=f"a multiple of {self.size}, the number of processes",
            )
        each = parts // self.size
        return range(self.rank * each, (self.rank + 1) * each)

    def add_up(self, tensors: Sequence[Tensor]) -> None:
        """Replace each by its sum over all processes."""
        if self.size == 1:
            return
        bucket = torch.cat([tensor.reshape(-1) for tensor in tensors])
        distributed.all_reduce(bucket)
        for tensor, total in zip(tensors, bucket.split([tensor.numel() for tensor in tensors]), strict=True):
            tensor.copy_(total.view_as(tensor))

    def anyone(self, asked: bool, device: torch.device) -> bool:
        """Whether any process was asked."""
        if self.size == 1:
            return asked
        count = torch.tensor(float(asked), device=device)
        distributed.all_reduce(count)
        return bool(count)

    def wait(self) -> None:
        """Until every process is here."""
        if self.size > 1:
            distributed.barrier()


ALONE = Team(0, 1)


def launched_by_torchrun() -> int | None:
    """How many processes torchrun started; None where it did not start this one."""
    return int(os.environ["WORLD_SIZE"]) if {"RANK", "WORLD_SIZE", "MASTER_ADDR"} <= os.environ.keys() else None


@contextmanager
def joined_team(device: torch.device) -> Generator[Team]:
    """The team of the processes that torchrun started, or this process alone."""
    if launched_by_torchrun() is None:
        yield ALONE
        return
    distributed.init_process_group("nccl" if device.type == "cuda" else "gloo", timeout=_PATIENCE)
    try:
        yield Team(distributed.get_rank(), distributed.get_world_size())
    finally:
        distributed.destroy_process_group()
