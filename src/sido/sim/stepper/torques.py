"""The control law, compiled: from the hand's error to the arm's torques."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sido.arrays import Array
from sido.sim.stepper.algebra import dot, factor, solve, solve_lower
from sido.sim.stepper.native import native

__all__ = ["Scratch", "osc_torques", "scratch"]


class Scratch(NamedTuple):
    """Room for one substep's control law, so that none is asked for in the loop."""

    mass: Array
    """`M`, the arm's own."""
    jacobian: Array
    """`J`, of the grip site, over the arm's joints: translation, rotation."""
    bias: Array
    rest: Array
    """`u`, the acceleration of the joints towards the rest posture."""
    wrench: Array
    """First `a`, the acceleration that the hand's error asks for; then the force and torque that give it."""
    drift: Array
    half: Array
    inertia: Array
    translation: Array
    rotation: Array
    goal_position: Array
    goal_rotation: Array


@native
def scratch(joints: int) -> Scratch:
    return Scratch(
        np.empty((joints, joints)),
        np.empty((6, joints)),
        np.empty(joints),
        np.empty(joints),
        np.empty(6),
        np.empty(6),
        np.empty((6, joints)),
        np.empty((6, 6)),
        np.empty((3, 3)),
        np.empty((3, 3)),
        np.empty(3),
        np.empty((3, 3)),
    )


@native
def osc_torques(work: Scratch, torques: Array) -> bool:
    """Operational-space torques from `mass, jacobian, bias, rest, wrench`; False where the arm is singular.

        tau = J^T (F - Lambda J u) + M u + bias,   F = [Lambda_p a_p, Lambda_r a_r],   Lambda = (J M^-1 J^T)^-1

    Position and rotation are decoupled: `Lambda_p` and `Lambda_r` are made of their own rows of `J`. Of `M u`, which
    would take the arm to its rest posture, `I - J^T Lambda J M^-1` lets pass what does not move the hand. The bias
    makes up for gravity and Coriolis forces. `mass` and `wrench` are used up.
    """
    joints = work.mass.shape[0]
    for joint in range(joints):
        torques[joint] = work.bias[joint]
        for k in range(joints):
            torques[joint] += work.mass[joint, k] * work.rest[k]
    if not factor(work.mass):
        return False
    for row in range(6):  # J M^-1 J^T = Y Y^T with Y = (L^-1 J^T)^T
        work.half[row] = work.jacobian[row]
        solve_lower(work.mass, work.half[row])
        work.drift[row] = dot(work.jacobian[row], work.rest)
        for column in range(row + 1):
            work.inertia[row, column] = dot(work.half[row], work.half[column])
    for row in range(3):
        for column in range(row + 1):
            work.translation[row, column] = work.inertia[row, column]
            work.rotation[row, column] = work.inertia[3 + row, 3 + column]
    if not (factor(work.translation) and factor(work.rotation) and factor(work.inertia)):
        return False
    solve(work.translation, work.wrench[:3])
    solve(work.rotation, work.wrench[3:])
    solve(work.inertia, work.drift)
    for joint in range(joints):
        for axis in range(6):
            torques[joint] += work.jacobian[axis, joint] * (work.wrench[axis] - work.drift[axis])
    return True
