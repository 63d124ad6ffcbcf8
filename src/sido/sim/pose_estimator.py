"""A camera that says where the object is: late, at its own rate, with noise, a bias and gaps.

What it reports, base frame, for an object that truly is at `P`:

    z = R^T (P - t) + bias + noise n,   n ~ N(0, 1)^3        in the true camera's frame (R, t)
    P_hat = base_from_camera error z                         `error`: where one believes the camera to be

It looks at 0, 1/rate, 2/rate, ... seconds; a look at time `s` is known from `s + latency` on, unless it is lost. What
is reported at any time is the newest look that is known, with the time `s` at which the object was there.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, final

import numpy as np
from jaxtyping import Float

from sido.arrays import Array
from sido.errors import SettingError
from sido.geometry import Pose, Transform

__all__ = ["Estimate", "PoseEstimator", "PoseTrack"]

_ROUNDING_S = 1e-9


def _agent_view() -> Transform:
    """As robosuite's agentview: 1.06 m before the robot, 0.44 m above its base, looking back and down by 45 degrees."""
    s = math.sqrt(0.5)
    matrix = ((0.0, s, -s, 1.06), (1.0, 0.0, 0.0, 0.0), (0.0, -s, -s, 0.438), (0.0, 0.0, 0.0, 1.0))
    return Transform("base", "camera", Pose.from_matrix(matrix))


class Estimate(NamedTuple):
    """One look that has become known."""

    position: Float[Array, "3"]
    """Metres, base frame."""
    time_s: float
    """When the object was there, since the episode began."""


@final
@dataclass(frozen=True)
class PoseEstimator:
    """How the object's position is estimated; without arguments, perfectly.

    The camera's axes are the optical ones: x to the right of the image, y down, z into the scene.
    """

    rate_hz: float = 20.0
    latency_s: float = 0.0
    dropout: float = 0.0
    """Probability that a look is lost. The last one that was not is then kept, with its time."""
    noise_m: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Standard deviation along the camera's axes, drawn anew for every look; depth, the last, is usually the worst."""
    bias_m: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Along the camera's axes, always the same."""
    base_from_camera: Transform = field(default_factory=_agent_view)
    """Where the camera is."""
    calibration_error: Pose = field(default_factory=Pose.identity)
    """`camera_from_believed_camera`: by how much the extrinsics that are used are wrong."""

    def __post_init__(self) -> None:
        self._require("rate_hz", self.rate_hz > 0, "above 0 Hz")
        self._require("latency_s", self.latency_s >= 0, "0 s or more")
        self._require("dropout", 0 <= self.dropout <= 1, "a probability, 0 to 1")
        three = "three standard deviations, 0 m or more"
        self._require("noise_m", np.shape(self.noise_m) == (3,) and min(self.noise_m) >= 0, three)
        self._require("bias_m", np.shape(self.bias_m) == (3,), "three numbers, metres")
        if (self.base_from_camera.into, self.base_from_camera.of) != ("base", "camera"):
            raise SettingError(
                "not the camera's pose",
                field="PoseEstimator.base_from_camera",
                found=self.base_from_camera.name,
                expected="base_from_camera",
            )

    def _require(self, name: str, condition: bool, expected: str) -> None:
        value = getattr(self, name)
        if not (condition and np.isfinite(value).all()):
            raise SettingError("not usable", field=f"PoseEstimator.{name}", found=value, expected=expected)

    def look(self, position: Float[Array, "3"], noise: Float[Array, "3"]) -> Float[Array, "3"]:
        """What it says of an object that is at `position`, where chance draws the standard normal numbers `noise`."""
        camera, error = self._matrices
        seen = camera[:3, :3].T @ (position - camera[:3, 3])
        said = error[:3, :3] @ (seen + self.bias_m + np.array(self.noise_m) * noise) + error[:3, 3]
        return position + camera[:3, :3] @ (said - seen)  # a difference, so that a perfect camera is exactly right

    @cached_property
    def _matrices(self) -> tuple[Float[Array, "4 4"], Float[Array, "4 4"]]:
        return self.base_from_camera.pose.matrix, self.calibration_error.matrix

    def track(self, rng: np.random.Generator, position: Float[Array, "3"]) -> PoseTrack:
        """Begin an episode, with the object at `position`."""
        return PoseTrack(self, rng, position)


@final
class PoseTrack:
    """The estimates of one episode.

    The look at time 0 is never lost, and known at once: there is always an estimate. Every look takes the same from
    `rng`, so that two estimators that differ in one setting share their noise.
    """

    def __init__(self, estimator: PoseEstimator, rng: np.random.Generator, position: Float[Array, "3"]) -> None:
        self.estimator = estimator
        self._rng = rng
        self._looks = 0
        self._seen = Estimate(position.copy(), 0.0)
        self._coming: deque[Estimate] = deque()
        first, _ = self._look(position)
        self.latest = Estimate(first, 0.0)
        """The newest look that is known."""

    def advance(self, time_s: float, position: Float[Array, "3"]) -> Estimate:
        """Let time pass until `time_s`, when the object is at `position`; meanwhile it went straight there.

        Returns:
            What is known then.
        """
        before, start = self._seen.time_s, self._seen.position
        while (instant := self._looks / self.estimator.rate_hz) <= time_s + _ROUNDING_S:
            share = min((instant - before) / (time_s - before), 1.0) if time_s > before else 1.0
            share = 1.0 if time_s - instant <= _ROUNDING_S else share
            said, lost = self._look((1.0 - share) * start + share * position)
            if not lost:
                self._coming.append(Estimate(said, instant))
        self._seen = Estimate(position.copy(), time_s)
        while self._coming and self._coming[0].time_s + self.estimator.latency_s <= time_s + _ROUNDING_S:
            self.latest = self._coming.popleft()
        return self.latest

    def _look(self, position: Float[Array, "3"]) -> tuple[Float[Array, "3"], bool]:
        self._looks += 1
        noise, chance = self._rng.standard_normal(3), self._rng.random()
        return self.estimator.look(position, noise), bool(chance < self.estimator.dropout)
