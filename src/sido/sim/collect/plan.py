"""Which attempts must be played, and which of them become the dataset."""

from __future__ import annotations

from collections import Counter
from typing import final

from sido.errors import SidoError
from sido.proportion import Proportion

__all__ = ["LEAST_RATE", "Plan", "told"]

LEAST_RATE, BEFORE_GIVING_UP = 0.05, 50
"""With fewer successes than that share, collecting is given up after so many attempts, or later."""


@final
class Plan:
    """Attempts `0, 1, 2, ...`, of which the first `demos` usable ones are wanted.

    With `places`, attempt `k` is made at place `k mod places`, and each place wants its equal share of them: those that
    have it are passed over from then on. What is chosen and counted follows from the attempts' outcomes alone, and not
    from the order in which they become known; that only decides what is played in vain.

    Args:
        demos: How many usable attempts are wanted.
        places: Where they are made; `demos` is a multiple.
    """

    def __init__(self, demos: int, places: int = 1) -> None:
        assert demos % places == 0
        self._rows = [_Row(demos // places) for _ in range(places)]

    @property
    def complete(self) -> bool:
        """Whether enough is known to choose."""
        return all(row.complete for row in self._rows)

    @property
    def counted(self) -> list[int]:
        """The attempts that were needed, in order: up to the last one chosen. Once complete, this is settled."""
        return sorted(self._number(place, k) for place, row in enumerate(self._rows) for k in range(row.known))

    @property
    def chosen(self) -> list[int]:
        """The usable ones among them: the dataset."""
        return sorted(
            self._number(place, k) for place, row in enumerate(self._rows) for k in range(row.known) if row.usable[k]
        )

    @property
    def usable(self) -> int:
        """How many of those wanted are there."""
        return sum(min(row.quota, row.successes) for row in self._rows)

    def next(self) -> int | None:
        """The next attempt to play; None where there is none, or none before more is known of the others."""
        places = [place for place, row in enumerate(self._rows) if row.wants]
        if not places:
            return None
        number = min(self._number(place, len(self._rows[place].endings)) for place in places)
        self._rows[number % len(self._rows)].begin()
        return number

    def learn(self, number: int, ending: str, *, usable: bool) -> None:
        """An attempt that `next` gave has been played.

        Raises:
            SidoError: too few are usable to go on.
        """
        place = number % len(self._rows)
        row = self._rows[place]
        row.end(number // len(self._rows), ending, usable=usable)
        if row.hopeless:
            rate, counts = Proportion(row.good, row.known), Counter(row.endings[: row.known])
            raise SidoError(
                "the expert succeeds too rarely to go on" + ("" if len(self._rows) == 1 else f" at place {place}"),
                found=f"{rate.successes} usable of {rate.attempts} attempts ({told(counts)})",
                expected=f"{LEAST_RATE:.0%} or more",
                fix="a slower motion, less noise or another placement; see it with `sido play`",
            )

    def _number(self, place: int, k: int) -> int:
        return k * len(self._rows) + place


def told(endings: Counter[str | None]) -> str:
    """In words: "12 time, 3 robot fault"."""
    return ", ".join(f"{count} {ending}" for ending, count in endings.most_common() if ending)


@final
class _Row:
    """The attempts at one place, one after the other."""

    def __init__(self, quota: int) -> None:
        self.quota = quota
        self.endings: list[str | None] = []
        """None: it is being played."""
        self.usable: list[bool] = []
        self.known = 0
        """So many are known without a gap; once it is complete or hopeless, that stays."""
        self.good = 0
        """Usable ones of those."""
        self.hopeless = False

    @property
    def complete(self) -> bool:
        return self.good >= self.quota

    @property
    def successes(self) -> int:
        return sum(self.usable)

    @property
    def wants(self) -> bool:
        """Whether those that are being played will probably not suffice."""
        played = sum(ending is not None for ending in self.endings)
        rate = (self.successes + 1) / (played + 1)
        return self.successes + rate * (len(self.endings) - played) < self.quota

    def begin(self) -> None:
        self.endings.append(None)
        self.usable.append(False)

    def end(self, k: int, ending: str, *, usable: bool) -> None:
        self.endings[k], self.usable[k] = ending, usable
        while not (self.complete or self.hopeless) and self._next_is_known:
            self.good += self.usable[self.known]
            self.known += 1
            self.hopeless = self.known >= BEFORE_GIVING_UP and self.good < LEAST_RATE * self.known

    @property
    def _next_is_known(self) -> bool:
        return self.known < len(self.endings) and self.endings[self.known] is not None
