"""What `sido evaluate` plays: options that become settings, one of each combination."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import tyro

if TYPE_CHECKING:
    from sido.evaluate import Estimator, Setting

__all__ = ["EstimatorOptions", "SettingOptions"]

_USUAL_SPEED_MPS = 0.02


@dataclass(frozen=True)
class EstimatorOptions:
    """How the object's pose is estimated; perfectly, if nothing is given."""

    pose_noise: float = 0.0
    """Standard deviation in metres, along each axis."""
    pose_bias: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Added to every estimate: x, y, z in metres, base frame."""
    pose_latency: float = 0.0
    """Seconds from a look to when it is known."""
    pose_dropout: float = 0.0
    """Share of the looks that are lost."""
    pose_rate: float = 20.0
    """Looks per second."""

    def estimator(self) -> Estimator:
        from sido.evaluate import Estimator

        return Estimator(
            rate_hz=self.pose_rate,
            latency_s=self.pose_latency,
            dropout=self.pose_dropout,
            noise_m=(self.pose_noise,) * 3,
            bias_m=self.pose_bias,
        )


@dataclass(frozen=True)
class SettingOptions:
    """What is played, and how the policy is used; several values make a cell of each combination."""

    task: str = "stack"
    """stack, square, mug, gantry or peachtree."""
    motion: tuple[str, ...] = ("still",)
    """How the object moves: still, x, y, circle, random, variable-speed, gantry, peachtree, accelerating,
    stop-and-go."""
    speed: tuple[float, ...] = ()
    """In m/s; by default 0.02. A still object has none."""
    predictor: tuple[str, ...] = ()
    """hold (where the object is), finite-difference (the paper's, told the speed), finite-difference-measured, kalman,
    interacting-models, last-turn, legs-and-arcs (the best), or a folder of `sido predictor fit`; each also with +walls,
    which knows the region's edges; true-future (an oracle); none. By default what the policy's pose channel was made
    for."""
    correction: tuple[str, ...] = ("none",)
    """none; ac, the paper's action compensation; feed-forward, the object's velocity added to commands."""
    horizon: tuple[str, ...] = ("chunk",)
    """chunk, to the end of the chunk (the paper's); contact, or to the grasp if that comes sooner."""
    action_horizon: int = 8
    """T_a, how many actions of a chunk are executed."""
    reaching_action_horizon: int | None = None
    """T_a while the object is still to be reached."""
    latency: float = 0.0
    """Seconds from an observation to its action, for which the predictor is to make up."""
    obstacle: str = "reverse"
    """What the object does where another stands in its way: reverse, pass-beside, outside."""
    estimator: Annotated[EstimatorOptions, tyro.conf.OmitArgPrefixes] = EstimatorOptions()
    """How its pose is estimated."""

    def worlds(self) -> list[tuple[str, float]]:
        """Each motion at each speed; a still object once.

        Raises:
            SettingError: a speed, and nothing that moves.
        """
        from sido.motion import motion_named

        if self.speed and set(self.motion) == {"still"}:
            motion_named("still", max(self.speed))  # refused, and why
        speeds = self.speed or (_USUAL_SPEED_MPS,)
        worlds = [(motion, 0.0 if motion == "still" else speed) for motion in self.motion for speed in speeds]
        return list(dict.fromkeys(worlds))

    def settings(self, usual_predictor: str) -> list[Setting]:
        """One of each combination."""
        from sido.evaluate import Setting

        return [
            Setting(
                task=self.task,
                motion=motion,
                speed_mps=speed_mps,
                obstacle=self.obstacle,
                predictor=predictor,
                correction=correction,
                horizon=horizon,
                action_horizon=self.action_horizon,
                reaching_action_horizon=self.reaching_action_horizon,
                latency_s=self.latency,
                estimator=self.estimator.estimator(),
            )
            for (motion, speed_mps), predictor, correction, horizon in itertools.product(
                self.worlds(), self.predictor or (usual_predictor,), self.correction, self.horizon
            )
        ]
