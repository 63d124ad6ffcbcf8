"""Mug: open the drawer, put the mug in, close it. Of primitives; the same meaning as MimicGen's MugCleanup."""

from __future__ import annotations

import math
from xml.etree.ElementTree import Element, SubElement

import mujoco
import numpy as np
from jaxtyping import Bool, Float

from sido.arrays import Array
from sido.motion import Region
from sido.sim.mjcf import Body, Look, Matter, aim_camera, leave_apart, light_from, numbers
from sido.sim.scene import Scene
from sido.sim.scenes.building import build_scene
from sido.sim.scenes.placing import object_position, object_upness, with_object

__all__ = [
    "CLOSED_M",
    "DRAWER_JOINT",
    "GRIP_DEPTH_M",
    "HANDLE_M",
    "HORIZON_STEPS",
    "MOVING",
    "OPEN_M",
    "REGION",
    "REST_HEIGHT_M",
    "STROKE_M",
    "X_M",
    "Y_M",
    "build",
    "drawer_position",
    "handle",
    "place",
    "succeeded",
    "target",
]

MOVING = "mug"
DRAWER_JOINT = "drawer"
HORIZON_STEPS = 500
"""25 s, as MimicGen's."""

TABLE_M = 0.8
MUG_RADIUS_M, MUG_HEIGHT_M, MUG_WALL_M = 0.03, 0.075, 0.005
REST_HEIGHT_M = TABLE_M + MUG_HEIGHT_M / 2
"""Of the mug's origin, the middle of its body; world frame."""
X_M, Y_M = (-0.15, 0.15), (-0.25, -0.10)
"""Where the mug is drawn from: MimicGen's D0."""
REGION = Region((0.0, -0.155), (0.30, 0.25))
"""Where it moves; world frame. The paper's 25 x 25 cm, widened along x to hold every start. The open drawer ends just
short of it, and the hand that opens it passes above the mug: so near that the arm, which points down, is nowhere
stretched out (at x = 0.15, y = -0.305 it nearly is, and the hand rings about its goal with a period of 11 s)."""
GRIP_DEPTH_M = 0.015
"""How far below the mug's rim the grip site is to close: the fingers stay above the mug's handle, and the palm above
the cabinet while the mug is put down."""

STROKE_M = 0.14
OPEN_M, CLOSED_M = -0.10, -0.01
"""Of the drawer's joint, 0 where it is closed: below the one it counts as opened, above the other as closed."""

_CABINET_M = (0.0, 0.3, TABLE_M)
"""The middle of its underside."""
_WIDTH, _DEPTH, _SHEET = 0.26, 0.20, 0.006
_FLOOR = 0.022
"""The upper side of the drawer's bottom, above the table."""
_HEIGHT = _FLOOR + MUG_HEIGHT_M + 0.006 + _SHEET
_FRONT, _STANDOFF, _BAR = 0.012, 0.06, 0.007
"""The front's thickness; from it to the middle of the handle's bar, where a finger of the open hand fits between; half
of the bar's thickness."""
_BAR_HEIGHT = 0.09
"""So high that the palm, 3 cm above the grip site, does not meet the cabinet's top."""
HANDLE_M = (_CABINET_M[0], _CABINET_M[1] - _DEPTH / 2 - _FRONT - _STANDOFF, TABLE_M + _BAR_HEIGHT)
"""The middle of the handle's bar, which lies along x, when the drawer is closed; world frame."""
_INSIDE_BACK = _DEPTH / 2 - _SHEET - 0.004 - _SHEET
"""From the cabinet's middle to the drawer's back wall."""

_PORCELAIN = Matter(density=1200.0, friction=(1.0, 0.01, 1e-4))
_WOOD = Matter(density=500.0, friction=(0.8, 0.005, 1e-4), contact_axes=3)
_WALNUT, _OAK, _BRASS = Look((0.36, 0.22, 0.13)), Look((0.72, 0.53, 0.33)), Look((0.78, 0.65, 0.32))
_GLAZE, _INSIDE = Look((0.13, 0.35, 0.67)), Look((0.93, 0.92, 0.88))
_MUG_SIDES, _SEEN_SIDES = 12, 32


def build() -> Scene:
    """A Panda with its own gripper, a cabinet with one drawer, a mug."""
    return build_scene("Mug", _furnish, objects=(MOVING,), supports=("table_collision",))


def place(scene: Scene, rng: np.random.Generator) -> Float[Array, "nq"]:
    """MimicGen's D0: the mug anywhere within 30 x 15 cm, turned anyhow, and the drawer closed."""
    where = (rng.uniform(*X_M), rng.uniform(*Y_M), REST_HEIGHT_M)
    return with_object(scene, scene.home_qpos, MOVING, where, rng.uniform(0.0, 2 * math.pi))


def drawer_position(scene: Scene, qpos: Float[Array, "*batch nq"]) -> Float[Array, "*batch"]:
    """Of the drawer's joint: 0 closed, `-STROKE_M` open."""
    joint = mujoco.mj_name2id(scene.model, mujoco.mjtObj.mjOBJ_JOINT, DRAWER_JOINT)
    return np.asarray(qpos[..., scene.model.jnt_qposadr[joint]])


def handle(scene: Scene, qpos: Float[Array, "*batch nq"]) -> Float[Array, "*batch 3"]:
    """The middle of the handle's bar; world frame."""
    return np.asarray(HANDLE_M) + drawer_position(scene, qpos)[..., None] * np.array([0.0, 1.0, 0.0])


def target(scene: Scene, qpos: Float[Array, "*batch nq"]) -> Float[Array, "*batch 3"]:
    """Where the mug's origin is to be let go: in the middle of what an open drawer shows; it goes with the drawer."""
    x, y, z = _CABINET_M
    shut = np.array([x, y - _DEPTH / 2 + STROKE_M / 2, z + _FLOOR + MUG_HEIGHT_M / 2])
    return shut + drawer_position(scene, qpos)[..., None] * np.array([0.0, 1.0, 0.0])


def succeeded(scene: Scene, qpos: Float[Array, "*batch nq"], held: Bool[Array, "*batch"]) -> Bool[Array, "*batch"]:
    """The mug stands upright on the drawer's bottom, the drawer is closed, and the hand has let go.

    MimicGen asks for a contact with the bottom and `1 - cos < 1e-3`. A mug that stands on the bottom is 0 to 3 mm
    above it here, and upright to 8 degrees, so that one that leans on a wall does not pass.
    """
    mug, drawer = object_position(scene, MOVING, qpos), drawer_position(scene, qpos)
    x, y, z = _CABINET_M
    middle = y + drawer
    height = mug[..., 2] - MUG_HEIGHT_M / 2 - (z + _FLOOR)
    inside = (np.abs(mug[..., 0] - x) < _WIDTH / 2) & (mug[..., 1] > middle - _DEPTH / 2)
    inside &= mug[..., 1] < middle + _INSIDE_BACK
    upright = object_upness(scene, MOVING, qpos) > 0.99
    return np.asarray(inside & upright & (np.abs(height) < 3e-3) & (drawer > CLOSED_M) & ~held)


def _furnish(root: Element) -> None:
    world = root.find("worldbody")
    assert world is not None
    _add_cabinet(Body.within(world, "cabinet", _CABINET_M))
    leave_apart(root, "cabinet", "drawer")
    _add_mug(Body.within(world, MOVING, (0.0, sum(Y_M) / 2, REST_HEIGHT_M), free=True))
    light_from(root, (0.3, -1.0, 1.0))
    aim_camera(root, "agentview", (0.62, -0.50, 1.42), (-0.02, 0.06, 0.86), fovy_deg=45.0)


def _add_cabinet(cabinet: Body) -> None:
    """Open to -y."""
    half_x, half_y, half_z, half_t = _WIDTH / 2, _DEPTH / 2, _HEIGHT / 2, _SHEET / 2
    cabinet.solid("cabinet_bottom", "box", (half_x, half_y, half_t), (0, 0, half_t), _WOOD, _WALNUT)
    cabinet.solid("cabinet_top", "box", (half_x, half_y, half_t), (0, 0, _HEIGHT - half_t), _WOOD, _WALNUT)
    cabinet.solid("cabinet_back", "box", (half_x, half_t, half_z), (0, half_y - half_t, half_z), _WOOD, _WALNUT)
    for side, x in (("left", half_t - half_x), ("right", half_x - half_t)):
        cabinet.solid(f"cabinet_{side}", "box", (half_t, half_y, half_z), (x, 0, half_z), _WOOD, _WALNUT)
    _add_drawer(cabinet.body("drawer", (0.0, 0.0, 0.0)))


def _add_drawer(drawer: Body) -> None:
    SubElement(
        drawer.element,
        "joint",
        name=DRAWER_JOINT,
        type="slide",
        axis="0 1 0",
        range=numbers((-STROKE_M, 0.0)),
        limited="true",
        damping="8",
        frictionloss="0.5",
        armature="0.1",
    )
    wide, deep = _WIDTH / 2 - _SHEET - 0.003, (_INSIDE_BACK + _SHEET + _DEPTH / 2) / 2
    middle, half_t, wall = _INSIDE_BACK + _SHEET - deep, _SHEET / 2, 0.025
    drawer.solid("drawer_bottom", "box", (wide, deep, half_t), (0, middle, _FLOOR - half_t), _WOOD, _OAK)
    back = (0, _INSIDE_BACK + half_t, _FLOOR + wall)
    drawer.solid("drawer_back", "box", (wide, half_t, wall), back, _WOOD, _OAK)
    for side, x in (("left", half_t - wide), ("right", wide - half_t)):
        drawer.solid(f"drawer_{side}", "box", (half_t, deep, wall), (x, middle, _FLOOR + wall), _WOOD, _OAK)
    front_y, half_front = -_DEPTH / 2 - _FRONT / 2, (_HEIGHT - 0.006) / 2
    drawer.solid(
        "drawer_front", "box", (_WIDTH / 2, _FRONT / 2, half_front), (0, front_y, half_front + 0.003), _WOOD, _OAK
    )
    bar_y = HANDLE_M[1] - _CABINET_M[1]
    drawer.solid("handle_bar", "box", (0.06, _BAR, _BAR), (0, bar_y, _BAR_HEIGHT), _WOOD, _BRASS)
    reach = (_STANDOFF - _BAR) / 2
    for side, x in (("left", -0.054), ("right", 0.054)):
        foot = (x, bar_y + _BAR + reach, _BAR_HEIGHT)
        drawer.solid(f"handle_{side}", "box", (0.006, reach, 0.006), foot, _WOOD, _BRASS)


def _add_mug(mug: Body) -> None:
    """A tube of flat staves on a disc, and a handle that leaves the upper 3 cm free for fingers at any yaw."""
    half = MUG_HEIGHT_M / 2
    mug.solid("mug_bottom", "cylinder", (MUG_RADIUS_M, 0.003), (0, 0, 0.003 - half), _PORCELAIN)
    mug.sight("mug_bottom_visual", "cylinder", (MUG_RADIUS_M - 0.001, 0.003), (0, 0, 0.003 - half), _INSIDE)
    for k, angle in enumerate(np.arange(_MUG_SIDES) * (2 * math.pi / _MUG_SIDES)):
        size, where = _stave(MUG_RADIUS_M - MUG_WALL_M, MUG_RADIUS_M, half - 0.001, float(angle), _MUG_SIDES)
        mug.solid(f"mug_stave_{k}", "box", size, (*where, 0.001), _PORCELAIN, yaw_rad=float(angle))
    for k, angle in enumerate(np.arange(_SEEN_SIDES) * (2 * math.pi / _SEEN_SIDES)):
        for part, low, high, look in (
            ("inner", MUG_RADIUS_M - MUG_WALL_M, MUG_RADIUS_M - 0.001, _INSIDE),
            ("outer", MUG_RADIUS_M - 0.001, MUG_RADIUS_M, _GLAZE),
        ):
            size, where = _stave(low, high, half, float(angle), _SEEN_SIDES)
            mug.sight(f"mug_{part}_{k}_visual", "box", size, (*where, 0.0), look, yaw_rad=float(angle))
    low, high, out = 0.010 - half, 0.042 - half, MUG_RADIUS_M + 0.024
    mug.solid("mug_handle", "box", (0.004, 0.005, (high - low) / 2), (out, 0, (low + high) / 2), _PORCELAIN, _GLAZE)
    for part, z in (("low", low + 0.004), ("high", high - 0.004)):
        arm = ((MUG_RADIUS_M + out) / 2 - 0.003, 0, z)
        mug.solid(f"mug_handle_{part}", "box", (0.011, 0.005, 0.004), arm, _PORCELAIN, _GLAZE)


def _stave(
    inner_m: float, outer_m: float, half_height_m: float, angle_rad: float, sides: int
) -> tuple[tuple[float, float, float], tuple[float, float]]:
    """Size and place of one side of a polygonal tube."""
    radius = (inner_m + outer_m) / 2
    size = ((outer_m - inner_m) / 2, outer_m * math.tan(math.pi / sides), half_height_m)
    return size, (radius * math.cos(angle_rad), radius * math.sin(angle_rad))
