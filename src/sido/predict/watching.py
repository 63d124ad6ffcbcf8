"""How a track is seen: by a camera with a rate, noise, latency and gaps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np
from jaxtyping import Float

from sido.arrays import Array
from sido.errors import SettingError
from sido.motion.settings import require_above, require_at_least
from sido.predict.history import History
from sido.predict.track import Track

__all__ = ["Question", "Watching"]

_SPARE_LOOKS = 4


class Question(NamedTuple):
    """Histories, and where the objects then were."""

    history: History
    horizon_s: Float[Array, " B"]
    truth: Float[Array, "B 3"]


@final
@dataclass(frozen=True)
class Watching:
    """Looks at regular times; each is known `latency_s` later, unless it is lost."""

    rate_hz: float = 20.0
    noise_m: float = 0.0
    """Standard deviation of a pose, along each axis."""
    latency_s: float = 0.0
    dropout: float = 0.0
    """Probability that a look is lost."""
    jitter_s: float = 0.0
    """The stamps are off regular times by up to so much, and true."""

    def __post_init__(self) -> None:
        require_above(0.0, self.rate_hz, "Watching.rate_hz")
        for name in ("noise_m", "latency_s", "jitter_s"):
            require_at_least(0.0, getattr(self, name), f"Watching.{name}")
        if not 0.0 <= self.dropout < 1.0:
            raise SettingError(
                "not a probability", field="Watching.dropout", found=self.dropout, expected="0 or more, below 1"
            )

    def window(self, observations: int) -> int:
        """How many looks back hold so many observations, gaps included."""
        return int(np.ceil((observations + _SPARE_LOOKS) / (1.0 - self.dropout)))

    def episode(
        self,
        track: Track,
        rng: np.random.Generator,
        begin_s: float,
        asked_s: Float[Array, " B"],
        observations: int,
    ) -> History:
        """What is known at each of the times `asked_s` of an object that came into sight at `begin_s`.

        The questions of one episode share their looks.
        """
        until = float(asked_s.max()) if len(asked_s) else begin_s
        looks = int(np.floor((until - begin_s) * self.rate_hz + 1e-6)) + 1
        stamps = begin_s + np.arange(looks) / self.rate_hz
        stamps = stamps + self.jitter_s * rng.uniform(0.0, 1.0, looks)
        poses = track.at(stamps) + self.noise_m * rng.standard_normal((looks, 3))
        seen = rng.random(looks) >= self.dropout
        known = np.searchsorted(stamps + self.latency_s, asked_s + 1e-9, side="right")
        back = known[:, None] + np.arange(-self.window(observations), 0)
        there = back >= 0
        back = np.maximum(back, 0)
        return History.of(poses[back], stamps[back], asked_s, there & seen[back])
