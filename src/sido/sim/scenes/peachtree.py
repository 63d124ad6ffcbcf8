"""Peachtree: a peach on a swaying tree, to be picked and dropped into a basket. A twin of the paper's real task.

"Detaches when pulled": while the peach hangs, it goes where the tree takes it, whatever touches it. Once both finger
pads touch it under a closing command, the stem gives way, and the peach is as free as any object: the grip, some 30 N,
is far above what tears a ripe peach from its stem, so that the pull is not modelled beyond that. It cannot be hung up
again: one that slips from the fingers falls, on the table before the tree or on the floor, not into the basket.
"""

from __future__ import annotations

import math
from xml.etree.ElementTree import Element

import numpy as np
from jaxtyping import Bool, Float

from sido.arrays import Array
from sido.motion import Region
from sido.sim.mjcf import Body, Look, Matter, add_camera, aim_camera, light_from
from sido.sim.robosuite_scene import SPECTATOR
from sido.sim.scene import Scene
from sido.sim.scenes.building import build_scene
from sido.sim.scenes.carrier import Carrier, carrier
from sido.sim.scenes.placing import object_position, with_object
from sido.sim.scenes.robotiq import HALF_OPEN_RAD

__all__ = [
    "APPROACH_PITCH_RAD",
    "BASKET_INSIDE_M",
    "BASKET_M",
    "HORIZON_STEPS",
    "MOVING",
    "PEACH_HALF_M",
    "REGION",
    "REST_HEIGHT_M",
    "build",
    "carriers",
    "place",
    "place_at",
    "succeeded",
    "target",
]

MOVING = "peach"
HORIZON_STEPS = 400
PEACH_HALF_M = (0.035, 0.035, 0.045)
REST_HEIGHT_M = 1.232
"""Of the hanging peach's middle; world frame. 0.32 m above the arm's base."""
REGION = Region((0.14, 0.0), (0.04, 0.30))
"""Where the peach hangs, as the tree sways over 30 cm along y, across the arm's reach; world frame."""
APPROACH_PITCH_RAD = math.radians(30)
"""The hand's rest attitude: it points down, tilted forward by this, so that it comes from beside the branch."""

TABLE_M = 0.8
BASKET_M = (-0.09, 0.0, TABLE_M)
"""The middle of the basket's underside, below the peach and nearer to the arm; world frame."""
BASKET_INSIDE_M, BASKET_HEIGHT_M, _WALL = (0.25, 0.35), 0.11, 0.006

_TABLE_SIZE_M, _TABLE_TOP_M = (0.5, 0.8, 0.05), (-0.12, 0.0, TABLE_M)
_REST_JOINTS = (0.0, -0.493, 0.0, -2.577, 0.0, 2.607, math.pi / 4)
_TREE_M, _TREE_HEIGHT = 0.42, 1.8
"""From the peach to the trunk, along x; from the floor to the top."""
_STEM_TOP = 0.16
"""Where the peach's stem leaves the branch, above its middle."""

_FRUIT = Matter(density=350.0, friction=(1.0, 0.02, 2e-3), contact_axes=6)
"""An artificial one, 80 g, that rolls little."""
_WICKER = Matter(friction=(1.0, 0.01, 1e-3))
_PEACH, _BLUSH, _STRAW = Look((0.96, 0.62, 0.38)), Look((0.86, 0.33, 0.25)), Look((0.76, 0.60, 0.38))
_BARK, _LEAF, _DARK_LEAF, _ROBOT = (
    Look((0.35, 0.24, 0.16)),
    Look((0.30, 0.52, 0.22)),
    Look((0.20, 0.40, 0.17)),
    Look((0.15, 0.16, 0.18)),
)
_LEAVES = (
    # along x from the peach, y, height above the peach; half lengths
    (0.06, 0.03, 0.19, 0.035, 0.018, 0.008),
    (0.12, -0.04, 0.20, 0.040, 0.020, 0.008),
    (0.19, 0.04, 0.24, 0.045, 0.024, 0.010),
    (0.25, -0.05, 0.27, 0.050, 0.030, 0.012),
    (0.34, 0.06, 0.36, 0.10, 0.09, 0.07),
    (0.46, -0.09, 0.42, 0.14, 0.13, 0.09),
    (0.48, 0.12, 0.46, 0.13, 0.12, 0.09),
    (0.42, 0.00, 0.52, 0.14, 0.15, 0.07),
    (0.52, 0.02, 0.36, 0.11, 0.14, 0.09),
)


def build() -> Scene:
    """A Panda with a Robotiq 2F-85, a tree with a peach, a basket of 25 x 35 cm."""
    return build_scene(
        "Peachtree",
        _furnish,
        objects=(MOVING,),
        supports=("table_collision", "floor", "basket_bottom"),
        gripper="Robotiq85Gripper",
        rest_joints=_REST_JOINTS,
        rest_fingers=HALF_OPEN_RAD,
        table_size_m=_TABLE_SIZE_M,
        table_top_m=_TABLE_TOP_M,
    )


def carriers(scene: Scene) -> tuple[Carrier, ...]:
    """The tree, on its mobile base."""
    return (carrier(scene.model, "tree", follows=(1.0, 1.0)),)


def place(scene: Scene, rng: np.random.Generator) -> Float[Array, "nq"]:
    """The peach anywhere on the line that the tree sways along, and up to 2 cm beside it."""
    x, y = rng.uniform(REGION.low_m, REGION.high_m).tolist()
    return place_at(scene, x, y)


def place_at(scene: Scene, x_m: float, y_m: float) -> Float[Array, "nq"]:
    """The peach hanging at a place of the region, world frame."""
    return with_object(scene, scene.home_qpos, MOVING, (x_m, y_m, REST_HEIGHT_M))


def target(scene: Scene, qpos: Float[Array, "*batch nq"]) -> Float[Array, "*batch 3"]:
    """Where the peach's middle is to be let go: 20 cm over the basket, as low as the tilted hand reaches with ease."""
    del scene
    x, y, z = BASKET_M
    return np.tile(np.array([x + 0.03, y, z + BASKET_HEIGHT_M + 0.2 + PEACH_HALF_M[2]]), (*qpos.shape[:-1], 1))


def succeeded(scene: Scene, qpos: Float[Array, "*batch nq"], held: Bool[Array, "*batch"]) -> Bool[Array, "*batch"]:
    """The peach is within the walls of the basket, its middle below their rim, and the hand has let go."""
    peach = object_position(scene, MOVING, qpos)
    inside = (np.abs(peach[..., :2] - BASKET_M[:2]) < np.array(BASKET_INSIDE_M) / 2).all(axis=-1)
    low, high = BASKET_M[2], BASKET_M[2] + BASKET_HEIGHT_M
    return np.asarray(inside & (peach[..., 2] > low) & (peach[..., 2] < high) & ~held)


def _furnish(root: Element) -> None:
    world = root.find("worldbody")
    assert world is not None
    _add_basket(Body.within(world, "basket", BASKET_M))
    _add_tree(Body.within(world, "tree", (0.0, 0.0, REST_HEIGHT_M), carried=True))
    peach = Body.within(world, MOVING, (*REGION.centre_m, REST_HEIGHT_M), free=True)
    peach.solid("peach", "ellipsoid", PEACH_HALF_M, (0, 0, 0), _FRUIT, _PEACH)
    peach.sight("blush_visual", "ellipsoid", (0.030, 0.031, 0.040), (-0.0062, -0.004, 0.003), _BLUSH)
    light_from(root, (0.3, -1.0, 1.0))
    aim_camera(root, "agentview", (0.55, -0.85, 1.45), (0.0, 0.0, 1.12), fovy_deg=52.0)
    add_camera(root, SPECTATOR, (0.62, -1.5, 1.52), (0.05, 0.0, 1.08))


def _add_basket(basket: Body) -> None:
    """Open at the top."""
    (x, y), half_t, half_z = BASKET_INSIDE_M, _WALL / 2, BASKET_HEIGHT_M / 2
    half_x, half_y = x / 2 + _WALL, y / 2 + _WALL
    basket.solid("basket_bottom", "box", (half_x, half_y, half_t), (0, 0, half_t), _WICKER, _STRAW)
    for name, sign in (("low", -1.0), ("high", 1.0)):
        along_x, along_y = sign * (half_x - half_t), sign * (half_y - half_t)
        basket.solid(f"basket_x_{name}", "box", (half_t, half_y, half_z), (along_x, 0, half_z), _WICKER, _STRAW)
        basket.solid(f"basket_y_{name}", "box", (half_x, half_t, half_z), (0, along_y, half_z), _WICKER, _STRAW)


def _add_tree(tree: Body) -> None:
    """Only seen. Its origin is the hanging peach's middle."""
    floor = -REST_HEIGHT_M
    tree.sight("mobile_base_visual", "box", (0.20, 0.17, 0.10), (_TREE_M, 0, floor + 0.14), _ROBOT)
    for k, (x, y) in enumerate(((-0.12, -0.17), (-0.12, 0.17), (0.12, -0.17), (0.12, 0.17))):
        tree.rod(
            f"wheel_{k}_visual",
            (_TREE_M + x, y - 0.015, floor + 0.07),
            (_TREE_M + x, y + 0.015, floor + 0.07),
            0.07,
            _ROBOT,
        )
    tree.rod("trunk_visual", (_TREE_M, 0, floor + 0.24), (_TREE_M, 0, floor + _TREE_HEIGHT - 0.1), 0.03, _BARK)
    knee = (0.20, 0.0, 0.22)
    tree.rod("branch_thick_visual", (_TREE_M, 0, 0.32), knee, 0.014, _BARK)
    tree.rod("branch_thin_visual", knee, (0.0, 0.0, _STEM_TOP), 0.007, _BARK)
    tree.rod("stem_visual", (0, 0, _STEM_TOP), (0, 0, PEACH_HALF_M[2]), 0.0025, _BARK)
    for k, (x, y, z, *half) in enumerate(_LEAVES):
        tree.sight(f"leaf_{k}_visual", "ellipsoid", half, (x, y, z), _LEAF if k % 2 else _DARK_LEAF)
