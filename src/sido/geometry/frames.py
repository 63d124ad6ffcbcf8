"""Rigid motions that know which frames they lead between."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from jaxtyping import Float

from sido.arrays import Array, FloatArray
from sido.errors import SettingError
from sido.geometry.poses import Pose

__all__ = ["Transform"]


@final
@dataclass(frozen=True)
class Transform:
    """`into_from_of`: takes coordinates in the frame `of` to coordinates in the frame `into`.

    Name a variable by it, and composition reads as it is checked:
    `world_from_camera = world_from_base @ base_from_camera`.
    """

    into: str
    of: str
    pose: Pose
    """Where the frame `of` stands, seen in `into`; may be a batch."""

    @property
    def name(self) -> str:
        """`"world_from_base"`."""
        return f"{self.into}_from_{self.of}"

    def __matmul__(self, other: Transform) -> Transform:
        """First `other`, then this.

        Raises:
            SettingError: `other` leads into another frame than this one starts from.
        """
        if self.of != other.into:
            raise SettingError(
                f"{self.name} @ {other.name} does not chain",
                found=f"inner frames {self.of!r} and {other.into!r}",
                expected="the same frame on both sides of the @",
                fix="swap the two, or take the inverse of one",
            )
        return Transform(self.into, other.of, self.pose @ other.pose)

    def inverse(self) -> Transform:
        """`of_from_into`."""
        return Transform(self.of, self.into, self.pose.inverse())

    def apply(self, points: Float[Array, "... 3"]) -> FloatArray:
        """Points given in the frame `of`, in the frame `into`; metres, leading axes broadcast."""
        return self.pose.apply(points)
