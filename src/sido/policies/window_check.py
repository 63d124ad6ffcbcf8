"""The door: is this what the policy was trained to see?"""

from __future__ import annotations

import torch
from torch import Tensor

from sido.errors import DataError
from sido.policies.config import ObservationConfig
from sido.policies.observation import ObservationWindow

__all__ = ["require_finite", "require_form"]


def require_form(seen: ObservationWindow, config: ObservationConfig) -> None:
    """Everything that the policy sees is there, of the right shape and type. Costs nothing: no number is read."""
    batch, steps = len(seen), config.observation_steps
    for name, tail in _tails(config).items():
        found = _of(seen, name, config)
        if found.ndim >= 2 and found.shape[1] != steps:
            raise DataError(
                "the policy sees another number of observation steps",
                field=name,
                found=f"{found.shape[1]} steps, {list(found.shape)}",
                expected=f"{steps} steps, {[batch, steps, *tail]}",
            )
        if found.shape != (batch, steps, *tail):
            what = "images of another size" if name.startswith("image.") else "another shape"
            raise DataError(
                f"the policy was trained with {what}",
                field=name,
                found=list(found.shape),
                expected=[batch, steps, *tail],
                fix="[height, width, 3] must be those of the training images" if name.startswith("image.") else None,
            )
        image = name.startswith("image.")
        if (found.dtype != torch.uint8) if image else not found.is_floating_point():
            raise DataError(
                "wrong type of number", field=name, found=found.dtype, expected="torch.uint8" if image else "a float"
            )


def require_finite(seen: ObservationWindow, config: ObservationConfig) -> None:
    """Neither NaN nor infinity in anything that the policy sees."""
    for name in _tails(config):
        values = _of(seen, name, config)
        if values.is_floating_point() and not bool(values.isfinite().all()):
            wrong = (~values.isfinite()).flatten(1).any(dim=1).nonzero().flatten().tolist()
            raise DataError(
                "not finite",
                field=name,
                found=f"NaN or infinity in sample {wrong[0]}" + (f" and {len(wrong) - 1} more" if wrong[1:] else ""),
                expected="numbers; an object that was never seen has no position to act on",
            )


def _tails(config: ObservationConfig) -> dict[str, tuple[int, ...]]:
    """What the policy sees, by name, and its shape after `[B, O]`."""
    tails: dict[str, tuple[int, ...]] = {"eef_position": (3,), "eef_rot6d": (6,), "gripper": (config.gripper_joints,)}
    if config.pose_channel != "none":
        tails["object_position"] = (3,)
    tails |= {f"landmark.{name}": (3,) for name in config.landmarks}
    tails |= {f"image.{camera.name}": (camera.height, camera.width, 3) for camera in config.cameras}
    return tails


def _of(seen: ObservationWindow, name: str, config: ObservationConfig) -> Tensor:
    if name == "object_position":
        return seen.object_position
    if name not in seen.observations:
        raise DataError(
            "the policy sees this, and it was not given",
            field=name,
            found=sorted(seen.observations),
            expected=sorted(_tails(config)),
        )
    return seen.observations[name]
