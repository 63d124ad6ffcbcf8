"""Success over several training seeds: episodes of one policy are more alike than those of several.

The pooled rate's interval is Wilson's with `n / d` attempts instead of `n`, where the design effect

    d = max(1, observed variance of the policies' rates / the variance r (1 - r) / n_i that chance alone would give)

says by how much the policies differ beyond chance (Rao and Scott's adjustment). With policies that do not differ,
`d = 1`, and the interval is that of all episodes together; with policies that differ wholly, that of the policies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist, variance
from typing import final

from sido.errors import SettingError
from sido.proportion import Proportion, wilson

__all__ = ["Pooled"]


@final
@dataclass(frozen=True)
class Pooled:
    """A method, trained with several seeds; the same number of episodes of each."""

    policies: tuple[Proportion, ...]

    def __post_init__(self) -> None:
        if not self.policies or len({policy.attempts for policy in self.policies}) != 1:
            raise SettingError(
                "policies are pooled with the same number of episodes of each",
                field="Pooled.policies",
                found=[policy.attempts for policy in self.policies],
            )

    @staticmethod
    def of(successes: Sequence[Sequence[bool]]) -> Pooled:
        """One row for each policy."""
        return Pooled(tuple(Proportion(sum(row), len(row)) for row in successes))

    @property
    def all(self) -> Proportion:
        """All episodes together."""
        return Proportion(
            sum(policy.successes for policy in self.policies), sum(policy.attempts for policy in self.policies)
        )

    @property
    def rate(self) -> float:
        return self.all.rate

    @property
    def design_effect(self) -> float:
        """`d`."""
        chance = self.rate * (1 - self.rate) / self.policies[0].attempts
        if len(self.policies) < 2 or chance == 0.0:
            return 1.0
        return max(1.0, variance([policy.rate for policy in self.policies]) / chance)

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Wilson's, with `n / d` attempts."""
        z = NormalDist().inv_cdf((1 + confidence) / 2)
        return wilson(self.rate, self.all.attempts / self.design_effect, z)

    def __str__(self) -> str:
        low, high = self.interval()
        return f"{self.rate:.1%} ({low:.1%} to {high:.1%})"
