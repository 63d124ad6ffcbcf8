"""Two methods on the same episodes: McNemar's exact test."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from sido.errors import SettingError

__all__ = ["Paired"]


@final
@dataclass(frozen=True)
class Paired:
    """How often both, one or the other succeeded. Only the episodes in which they differ say which is better."""

    both: int
    only_first: int
    only_second: int
    neither: int

    def __post_init__(self) -> None:
        counts = (self.both, self.only_first, self.only_second, self.neither)
        if min(counts) < 0 or sum(counts) < 1:
            raise SettingError(
                "not counts of episodes", field="Paired", found=counts, expected="0 or more, one at least"
            )

    @staticmethod
    def of(first: Mapping[int, bool], second: Mapping[int, bool]) -> Paired:
        """Success by seed, of two methods that met the same seeds.

        Raises:
            SettingError: they did not.
        """
        if first.keys() != second.keys():
            odd = sorted(first.keys() ^ second.keys())
            raise SettingError(
                "only the same episodes can be compared in pairs",
                field="seeds",
                found=f"{len(odd)} seeds that only one of them has, {odd[0]} among them",
                fix="play the same seeds with both",
            )
        pairs = [(first[seed], second[seed]) for seed in first]
        return Paired(
            both=pairs.count((True, True)),
            only_first=pairs.count((True, False)),
            only_second=pairs.count((False, True)),
            neither=pairs.count((False, False)),
        )

    def __add__(self, other: Paired) -> Paired:
        """Of two sets of episodes together: of several training seeds."""
        return Paired(
            self.both + other.both,
            self.only_first + other.only_first,
            self.only_second + other.only_second,
            self.neither + other.neither,
        )

    @property
    def episodes(self) -> int:
        return self.both + self.only_first + self.only_second + self.neither

    @property
    def difference(self) -> float:
        """The first's success rate, less the second's."""
        return (self.only_first - self.only_second) / self.episodes

    @property
    def p_value(self) -> float:
        """Two-sided: how probable so uneven a split of the differing episodes is, if neither is better.

        `min(1, 2 sum_{k <= min(b, c)} C(b + c, k) / 2^(b + c))`, in whole numbers until the end.
        """
        n, least = self.only_first + self.only_second, min(self.only_first, self.only_second)
        tail = sum(math.comb(n, k) for k in range(least + 1))
        return min(1.0, 2 * tail / 2**n)
