"""The orientation of the point that the actions move, from what a file records of the hand.

robosuite's `robot0_eef_pos` is the position of the grip *site*, but its `robot0_eef_quat` is the orientation of the
wrist *body*. The controller works with the site; on a Panda `R_site = R_body Rz(-90 deg)`.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float

from sido.arrays import Array
from sido.errors import DataError
from sido.geometry import (
    quat_about_z,
    quat_conjugate,
    quat_from_matrix,
    quat_multiply,
    unit_quat,
    wxyz_from_xyzw,
    xyzw_from_wxyz,
)

__all__ = ["BODY_QUAT", "SITE_QUAT", "body_quat_xyzw", "site_quat"]

SITE_QUAT, BODY_QUAT, SITE_POSE = "obs/robot0_eef_quat_site", "obs/robot0_eef_quat", "datagen_info/eef_pose"
_BODY_FROM_SITE = quat_about_z(-np.pi / 2)


def site_quat(arrays: Mapping[str, Array], robot: str) -> tuple[Float[Array, "T 4"], str | None]:
    """The site's orientation in the world, wxyz, and what a person should know if it had to be guessed."""
    if SITE_QUAT in arrays:
        return unit_quat(wxyz_from_xyzw(_numbers(arrays, SITE_QUAT, (4,)))), None
    if SITE_POSE in arrays:
        return quat_from_matrix(_numbers(arrays, SITE_POSE, (4, 4))[:, :3, :3]), None
    if BODY_QUAT not in arrays:
        raise DataError(
            "the demonstration does not say how the hand is turned",
            field=BODY_QUAT,
            expected=f"{SITE_QUAT}, {SITE_POSE} or {BODY_QUAT}",
            fix="extract the observations with robomimic's dataset_states_to_obs.py",
        )
    body = unit_quat(wxyz_from_xyzw(_numbers(arrays, BODY_QUAT, (4,))))
    if robot == "Panda":
        return quat_multiply(body, _BODY_FROM_SITE), None
    return body, (
        f"{BODY_QUAT} is the wrist's orientation and not the grip site's, and sido knows how they differ on a Panda "
        f"only (robot: {robot or 'not named'}): goals that are made of increments may be turned"
    )


def body_quat_xyzw(site_wxyz: Float[Array, "T 4"]) -> Float[Array, "T 4"]:
    """What a Panda's `robot0_eef_quat` is when the site is turned like this."""
    return xyzw_from_wxyz(quat_multiply(site_wxyz, quat_conjugate(_BODY_FROM_SITE)))


def _numbers(arrays: Mapping[str, Array], path: str, item: tuple[int, ...]) -> Array:
    array = arrays[path]
    if array.shape[1:] != item or array.dtype.kind not in "fiu":
        raise DataError("wrong shape", field=path, found=f"{array.dtype}{list(array.shape)}", expected=["T", *item])
    return array.astype(np.float64)
