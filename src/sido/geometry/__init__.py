"""Rigid motion: rotations, poses, frames, and how smooth a movement is. numpy only."""

from sido.geometry.frames import Transform
from sido.geometry.poses import Pose
from sido.geometry.quaternions import (
    quat_about_z,
    quat_angle,
    quat_conjugate,
    quat_multiply,
    rotate,
    unit_quat,
    wxyz_from_xyzw,
    xyzw_from_wxyz,
)
from sido.geometry.rotations import (
    axis_angle_from_matrix,
    axis_angle_from_quat,
    euler_xyz_from_matrix,
    matrix_from_axis_angle,
    matrix_from_euler_xyz,
    matrix_from_quat,
    matrix_from_rot6d,
    quat_from_axis_angle,
    quat_from_matrix,
    rot6d_from_matrix,
)
from sido.geometry.smoothness import sparc

__all__ = [
    "Pose",
    "Transform",
    "axis_angle_from_matrix",
    "axis_angle_from_quat",
    "euler_xyz_from_matrix",
    "matrix_from_axis_angle",
    "matrix_from_euler_xyz",
    "matrix_from_quat",
    "matrix_from_rot6d",
    "quat_about_z",
    "quat_angle",
    "quat_conjugate",
    "quat_from_axis_angle",
    "quat_from_matrix",
    "quat_multiply",
    "rot6d_from_matrix",
    "rotate",
    "sparc",
    "unit_quat",
    "wxyz_from_xyzw",
    "xyzw_from_wxyz",
]
