"""The form in which a network sees actions, and the way back to the dataset's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from sido.demos.absolute import quat_of_rotation, rotation_of_quat
from sido.demos.action_spec import ActionSpec, RotationForm

__all__ = ["ActionForm"]


@final
@dataclass(frozen=True)
class ActionForm:
    """Absolute actions as position, rot6d (it has no jumps) and gripper, whatever their rotation is in the dataset.

    Relative ones are small turns, far from any jump: they are taken as they are.
    """

    spec: ActionSpec
    """The dataset's, and the robot's."""

    @property
    def rotation(self) -> RotationForm:
        """The form of rotation that the network sees."""
        turns = self.spec.kind == "absolute" and self.spec.rotation != "none"
        return "rot6d" if turns else self.spec.rotation

    @property
    def size(self) -> int:
        """How many numbers the network sees of an action: the position's 3, the rotation's, the gripper's 1."""
        return ActionSpec(self.spec.kind, self.rotation).dim

    def encode(self, actions: Float[Tensor, "*batch A"]) -> Float[Tensor, "*batch C"]:
        """Actions as the network sees them."""
        if self.rotation == self.spec.rotation:
            return actions
        rows = _ROT6D[self.spec.rotation](actions[..., self.spec.rotation_slice])
        return torch.cat([actions[..., :3], rows, actions[..., -1:]], dim=-1)

    def decode(self, seen: Float[Tensor, "*batch C"]) -> Float[Tensor, "*batch A"]:
        """Back to the dataset's form; a rotation that is not quite one becomes the one beside it.

        A `DataError` where the six numbers span no rotation at all, or are not finite.
        """
        if self.spec.rotation == "none" or self.spec.kind == "relative":
            return seen
        rows: Any = seen[..., 3:9].detach().to("cpu", torch.float64).numpy()
        quat = quat_of_rotation(rows.reshape(-1, 6), "rot6d")
        turns = rotation_of_quat(quat, self.spec.rotation).reshape(*seen.shape[:-1], -1)
        rotation = torch.from_numpy(np.ascontiguousarray(turns)).to(seen.device, seen.dtype)
        return torch.cat([seen[..., :3], rotation, seen[..., -1:]], dim=-1)


def _from_axis_angle(axis_angle: Tensor) -> Tensor:
    """Rodrigues: `R = I + sin(t)/t [r]x + (1 - cos(t))/t^2 [r]x^2`, exact at `t = 0`, too."""
    angle = torch.linalg.vector_norm(axis_angle, dim=-1)
    first = torch.sinc(angle / torch.pi)
    second = 0.5 * torch.sinc(angle / (2 * torch.pi)) ** 2
    x, y, z = axis_angle.unbind(-1)
    return torch.stack(
        [
            1 - second * (y * y + z * z), second * x * y - first * z, second * x * z + first * y,
            second * x * y + first * z, 1 - second * (x * x + z * z), second * y * z - first * x,
        ],
        dim=-1,
    )  # fmt: skip


def _from_quat(quat_wxyz: Tensor) -> Tensor:
    w, x, y, z = torch.nn.functional.normalize(quat_wxyz, dim=-1, eps=0.0).unbind(-1)
    return torch.stack(
        [
            1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
            2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
        ],
        dim=-1,
    )  # fmt: skip


def _from_euler_xyz(euler_xyz: Tensor) -> Tensor:
    (ca, cb, cc), (sa, sb, sc) = euler_xyz.cos().unbind(-1), euler_xyz.sin().unbind(-1)
    return torch.stack(
        [
            cc * cb, cc * sb * sa - sc * ca, cc * sb * ca + sc * sa,
            sc * cb, sc * sb * sa + cc * ca, sc * sb * ca - cc * sa,
        ],
        dim=-1,
    )  # fmt: skip


# The first two rows of the matrix, in torch: training does this to every batch, on whatever device it is.
_ROT6D: dict[RotationForm, Callable[[Tensor], Tensor]] = {
    "axis_angle": _from_axis_angle,
    "quat_wxyz": _from_quat,
    "euler_xyz": _from_euler_xyz,
}
