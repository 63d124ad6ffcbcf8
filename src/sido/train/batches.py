"""Which transitions each update learns from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar, final

import torch
from jaxtyping import Int64
from torch import Tensor

from sido.train.randomness import generator_for

__all__ = ["Order", "ahead"]

Made = TypeVar("Made")


@final
class Order:
    """Shuffled epochs, one after another, cut into batches: batch `k` follows from the seed and `k` alone.

    Every transition is seen once before any is seen again, and a batch may reach over from one epoch into the next.
    """

    def __init__(self, transitions: int, batch_size: int, seed: int) -> None:
        self._transitions, self._batch_size, self._seed = transitions, batch_size, seed
        self._epochs: dict[int, Int64[Tensor, " transitions"]] = {}

    def batch(self, number: int) -> Int64[Tensor, " batch"]:
        """The transitions of a batch, from 0."""
        start = number * self._batch_size
        places = torch.arange(start, start + self._batch_size)
        epoch, place = places // self._transitions, places % self._transitions
        parts = [self._epoch(each)[place[epoch == each]] for each in range(int(epoch[0]), int(epoch[-1]) + 1)]
        return torch.cat(parts)

    def _epoch(self, epoch: int) -> Int64[Tensor, " transitions"]:
        known = self._epochs
        if epoch not in known:
            generator = generator_for("order", self._seed, epoch)
            # Replaced whole, as several threads may ask.
            known = {old: order for old, order in known.items() if old >= epoch - 1}
            known[epoch] = torch.randperm(self._transitions, generator=generator)
            self._epochs = known
        return known[epoch]


def ahead(make: Callable[[int], Made], numbers: range, threads: int) -> Iterator[Made]:
    """What `make` makes of each number, in order; threads make up to two each before they are asked for."""
    if threads == 0:
        yield from map(make, numbers)
        return
    pool = ThreadPoolExecutor(threads, thread_name_prefix="batches")
    try:
        waiting = [pool.submit(make, number) for number in numbers[: 2 * threads]]
        for number in range(numbers.start + 2 * threads, numbers.stop + 2 * threads):
            made = waiting.pop(0).result()
            if number < numbers.stop:
                waiting.append(pool.submit(make, number))
            yield made
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
