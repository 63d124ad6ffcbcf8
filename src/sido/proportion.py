"""So many of so many, and how sure that is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import final

from sido.errors import SettingError

__all__ = ["Proportion", "wilson"]


@final
@dataclass(frozen=True)
class Proportion:
    """Successes of attempts."""

    successes: int
    attempts: int

    def __post_init__(self) -> None:
        if not 0 <= self.successes <= self.attempts or self.attempts < 1:
            raise SettingError(
                "not so many of so many", found=f"{self.successes} of {self.attempts}", expected="0 to n of n, n >= 1"
            )

    @property
    def rate(self) -> float:
        """Successes per attempt."""
        return self.successes / self.attempts

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Wilson's: the rates `p` for which the rate found is within `z` standard deviations `sqrt(p (1 - p) / n)`."""
        return wilson(self.rate, self.attempts, NormalDist().inv_cdf((1 + confidence) / 2))

    def __str__(self) -> str:
        low, high = self.interval()
        return f"{self.rate:.1%} ({low:.1%} to {high:.1%})"


def wilson(rate: float, attempts: float, z: float) -> tuple[float, float]:
    """Wilson's interval of a rate that was found in so many attempts, which need not be a whole number."""
    n = attempts
    middle = (rate + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    # Rounding would else leave 1e-17 where the interval ends at 0 or 1.
    return 0.0 if rate == 0.0 else middle - half, 1.0 if rate == 1.0 else middle + half
