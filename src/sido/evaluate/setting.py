"""What is played, and how the policy is used: all that decides an evaluation beside the policy and the seeds."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, final

from sido.errors import SettingError
from sido.policies import read_settings, write_settings
from sido.predict import PREDICTORS
from sido.predict.named import AT_REST

__all__ = ["WALLS", "Estimator", "Setting"]

WALLS = "+walls"
"""Behind a predictor's name: it knows the region that reflects the object."""


@final
@dataclass(frozen=True)
class Estimator:
    """How the object's pose is estimated; without arguments, perfectly. As `sido.sim.pose_estimator.PoseEstimator`."""

    kind: ClassVar[str] = "estimator"
    rate_hz: float = 20.0
    latency_s: float = 0.0
    dropout: float = 0.0
    noise_m: tuple[float, ...] = (0.0, 0.0, 0.0)
    """Standard deviation along the camera's axes: right, down, depth."""
    bias_m: tuple[float, ...] = (0.0, 0.0, 0.0)
    """Added to every estimate, along x, y and z of the base frame."""

    def __post_init__(self) -> None:
        for name in ("noise_m", "bias_m"):
            if len(getattr(self, name)) != 3:
                raise SettingError(
                    "not three numbers", field=f"Estimator.{name}", found=getattr(self, name), expected="x, y, z"
                )


@final
@dataclass(frozen=True)
class Setting:
    """One cell of a table, but for whose policy it is.

    Names are those that the command line takes; `sido.evaluate.stage` makes things of them.
    """

    kind: ClassVar[str] = "setting"
    task: str = "stack"
    """Of `sido.sim.tasks.TASKS`."""
    motion: str = "still"
    """Of `sido.motion.MOTIONS`."""
    speed_mps: float = 0.0
    """The motion's commanded speed; 0 for a still object."""
    obstacle: str = "reverse"
    """Of `sido.sim.settings.OBSTACLE_RULES`."""
    predictor: str = "hold"
    """As `sido.evaluate.stage.predictor_for` understands it; "none" for a policy that is told nothing."""
    correction: str = "none"
    """Of `sido.evaluate.CORRECTIONS`."""
    horizon: str = "chunk"
    """Of `sido.evaluate.HORIZONS`: how far ahead the predictor is asked."""
    action_horizon: int = 8
    reaching_action_horizon: int | None = None
    """`T_a` while the object is still to be reached; `action_horizon`, if not given."""
    latency_s: float = 0.0
    """What the agent takes the time from an observation to its action to be."""
    estimator: Estimator = Estimator()
    longest_s: float | None = None
    """Ends episodes before the task's own time is over: for tests of what is around them."""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.speed_mps) and self.speed_mps >= 0.0):
            raise SettingError("not a speed", field="speed", found=self.speed_mps, expected="m/s, 0 or more")

    @property
    def moves(self) -> bool:
        """Whether the object does."""
        return self.motion != "still" and self.speed_mps > 0.0

    @property
    def learned(self) -> Path | None:
        """The folder of a learned predictor, if that is what is asked."""
        name = self.predictor.removeprefix(AT_REST).removesuffix(WALLS)
        return Path(name) if name not in PREDICTORS and Path(name).is_dir() else None

    @property
    def world(self) -> str:
        """What is played, in a few words: cells of the same words and seeds have the same episodes."""
        how = f"{self.motion} {100 * self.speed_mps:g} cm/s" if self.moves else "static"
        rule = "" if self.obstacle == "reverse" else f", obstacle {self.obstacle}"
        standard = Estimator()
        pose = [
            f"{name.removesuffix('_m').removesuffix('_s')} {getattr(self.estimator, name)}"
            for name in (field.name for field in dataclasses.fields(Estimator))
            if getattr(self.estimator, name) != getattr(standard, name)
        ]
        short = "" if self.longest_s is None else f", {self.longest_s:g} s"
        return f"{self.task}, {how}{rule}" + "".join(f", pose {part}" for part in pose) + short

    @property
    def deployment(self) -> str:
        """How the policy is used, in a few words."""
        parts = [self.predictor if self.learned is None else self.learned.name]
        parts += [] if self.correction == "none" else [f"+ {self.correction}"]
        parts += [] if self.horizon == "chunk" else [f"({self.horizon} horizon)"]
        reaching = self.reaching_action_horizon
        parts += [] if reaching is None else [f"(T_a {reaching} while reaching)"]
        parts += [] if self.action_horizon == 8 else [f"(T_a {self.action_horizon})"]
        return " ".join(parts)

    def to_json(self) -> str:
        return write_settings(self)

    @classmethod
    def from_json(cls, text: str | bytes) -> Setting:
        """Read what `to_json` wrote."""
        return read_settings(cls, text, place="setting")
