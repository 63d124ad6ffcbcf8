"""Gantry: a capsule on a moving stage, to be put into a box. A twin of the paper's real task."""

from __future__ import annotations

import math
from xml.etree.ElementTree import Element

import numpy as np
from jaxtyping import Bool, Float

from sido.arrays import Array
from sido.motion import GANTRY_SIZE_M, Region
from sido.motion.region import Axis
from sido.sim.mjcf import Body, Look, Matter, aim_camera, light_from
from sido.sim.scene import Scene
from sido.sim.scenes.building import build_scene
from sido.sim.scenes.carrier import Carrier, carrier
from sido.sim.scenes.placing import object_position, with_object
from sido.sim.scenes.robotiq import HALF_OPEN_RAD

__all__ = [
    "BOX_M",
    "CAPSULE_HEIGHT_M",
    "HORIZON_STEPS",
    "MOVING",
    "REGION",
    "REST_HEIGHT_M",
    "along_axis",
    "build",
    "carriers",
    "grid",
    "place",
    "place_at",
    "succeeded",
    "target",
]

MOVING = "capsule"
HORIZON_STEPS = 400
CAPSULE_HEIGHT_M, TOP_RADIUS_M, BOTTOM_RADIUS_M = 0.05, 0.025, 0.02
TABLE_M, STAGE_M = 0.8, 0.84
"""Heights of the table, and of the plate that carries the capsule."""
REST_HEIGHT_M = STAGE_M + CAPSULE_HEIGHT_M / 2
"""Of the capsule's origin, its middle; world frame."""
REGION = Region((-0.06, 0.0), GANTRY_SIZE_M)
"""The workspace of the stage, 23 x 43 cm, half a metre before the arm's base; world frame."""
BOX_M = (-0.06, 0.335, TABLE_M)
"""The middle of the box's underside, beyond the stage; world frame."""
BOX_INSIDE_M, BOX_HEIGHT_M, _CARD = 0.09, 0.045, 0.004

_REST_JOINTS = (0.0, -0.117, 0.0, -2.573, 0.0, 2.456, math.pi / 4)
"""The gripper points straight down, 18 cm above the stage."""

_PLASTIC = Matter(density=600.0, friction=(1.0, 0.01, 1e-4))
_CARDBOARD = Matter(friction=(0.8, 0.005, 1e-4))
_METAL = Matter(friction=(0.8, 0.005, 1e-4))
_ORANGE, _WHITE = Look((0.93, 0.42, 0.10)), Look((0.95, 0.95, 0.94))
_BED, _RAIL, _PLATE = Look((0.23, 0.24, 0.26)), Look((0.67, 0.69, 0.72)), Look((0.10, 0.10, 0.11))
_SLICES, _SEEN_SLICES = 3, 12


def build() -> Scene:
    """A Panda with a Robotiq 2F-85, the gantry with a capsule on it, a box of 9 x 9 cm."""
    return build_scene(
        "Gantry",
        _furnish,
        objects=(MOVING,),
        supports=("bed", "table_collision"),
        gripper="Robotiq85Gripper",
        rest_joints=_REST_JOINTS,
        rest_fingers=HALF_OPEN_RAD,
    )


def carriers(scene: Scene) -> tuple[Carrier, ...]:
    """The beam, which runs along y, and on it the plate that the capsule stands on."""
    return (
        carrier(scene.model, "beam", follows=(0.0, 1.0)),
        carrier(scene.model, "plate", follows=(1.0, 1.0)),
    )


def place(scene: Scene, rng: np.random.Generator) -> Float[Array, "nq"]:
    """The capsule anywhere in the workspace."""
    x, y = rng.uniform(REGION.low_m, REGION.high_m).tolist()
    return place_at(scene, x, y)


def place_at(scene: Scene, x_m: float, y_m: float) -> Float[Array, "nq"]:
    """The capsule at a place of the workspace, world frame."""
    return with_object(scene, scene.home_qpos, MOVING, (x_m, y_m, REST_HEIGHT_M))


def grid(side: int = 8) -> Float[Array, "count 2"]:
    """`side` x `side` places that span the workspace, row by row: the paper's 64 demonstrations of "random"."""
    x, y = (np.linspace(low, high, side) for low, high in zip(REGION.low_m, REGION.high_m, strict=True))
    return np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1).reshape(-1, 2)


def along_axis(axis: Axis, count: int) -> Float[Array, "count 2"]:
    """Places from end to end of one axis, at the middle of the other: the paper's 30 along x, and 22 along y."""
    k = "xy".index(axis)
    places = np.tile(np.array(REGION.centre_m), (count, 1))
    places[:, k] = np.linspace(REGION.low_m[k], REGION.high_m[k], count)
    return places


def target(scene: Scene, qpos: Float[Array, "*batch nq"]) -> Float[Array, "*batch 3"]:
    """Where the capsule's origin is when it stands in the middle of the box."""
    del scene
    x, y, z = BOX_M
    return np.tile(np.array([x, y, z + _CARD + CAPSULE_HEIGHT_M / 2]), (*qpos.shape[:-1], 1))


def succeeded(scene: Scene, qpos: Float[Array, "*batch nq"], held: Bool[Array, "*batch"]) -> Bool[Array, "*batch"]:
    """The capsule is within the walls of the box, its middle below their rim, and the hand has let go."""
    capsule = object_position(scene, MOVING, qpos)
    inside = (np.abs(capsule[..., :2] - BOX_M[:2]) < BOX_INSIDE_M / 2).all(axis=-1)
    return np.asarray(inside & (capsule[..., 2] < BOX_M[2] + BOX_HEIGHT_M) & ~held)


def _furnish(root: Element) -> None:
    world = root.find("worldbody")
    assert world is not None
    _add_bed(Body.within(world, "gantry", (*REGION.centre_m, TABLE_M)))
    _add_beam(Body.within(world, "beam", (REGION.centre_m[0], 0.0, STAGE_M), carried=True))
    plate = Body.within(world, "plate", (0.0, 0.0, STAGE_M), carried=True)
    plate.sight("plate_visual", "box", (0.035, 0.035, 0.002), (0, 0, -0.002), _PLATE)
    _add_box(Body.within(world, "box", BOX_M))
    _add_capsule(Body.within(world, MOVING, (*REGION.centre_m, REST_HEIGHT_M), free=True))
    light_from(root, (0.3, -1.0, 1.0))
    aim_camera(root, "agentview", (0.52, -0.58, 1.48), (-0.09, 0.06, 0.88), fovy_deg=42.0)


def _add_bed(bed: Body) -> None:
    """What the capsule stands on, whether the plate is under it or not; it is seen a little lower."""
    half_x, half_y, height = REGION.size_m[0] / 2 + 0.03, REGION.size_m[1] / 2 + 0.03, STAGE_M - TABLE_M
    bed.solid("bed", "box", (half_x, half_y, height / 2), (0, 0, height / 2), _METAL)
    bed.sight("bed_visual", "box", (half_x, half_y, height / 2 - 0.002), (0, 0, height / 2 - 0.002), _BED)
    for side, x in (("near", -half_x - 0.01), ("far", half_x + 0.01)):
        bed.solid(f"rail_{side}", "box", (0.01, half_y, height / 2 + 0.002), (x, 0, height / 2 + 0.002), _METAL, _RAIL)


def _add_beam(beam: Body) -> None:
    half_x = REGION.size_m[0] / 2 + 0.05
    beam.sight("beam_visual", "box", (half_x - 0.02, 0.012, 0.001), (0, 0, -0.002), _RAIL)
    for side, x in (("near", -half_x + 0.01), ("far", half_x - 0.01)):
        beam.sight(f"beam_{side}_visual", "box", (0.012, 0.025, 0.006), (x, 0, 0.008), _PLATE)


def _add_box(box: Body) -> None:
    """Open at the top."""
    outer, half_t, half_z = BOX_INSIDE_M / 2 + _CARD, _CARD / 2, BOX_HEIGHT_M / 2
    box.solid("box_bottom", "box", (outer, outer, half_t), (0, 0, half_t), _CARDBOARD, _WHITE)
    for name, sign in (("low", -1.0), ("high", 1.0)):
        away = sign * (outer - half_t)
        box.solid(f"box_x_{name}", "box", (half_t, outer, half_z), (away, 0, half_z), _CARDBOARD, _WHITE)
        box.solid(f"box_y_{name}", "box", (outer, half_t, half_z), (0, away, half_z), _CARDBOARD, _WHITE)


def _add_capsule(capsule: Body) -> None:
    """A cone that is cut off, wider at the top; solid in few slices and seen in many."""
    for slices, seen in ((_SLICES, False), (_SEEN_SLICES, True)):
        half = CAPSULE_HEIGHT_M / slices / 2
        for k, radius in enumerate(np.linspace(BOTTOM_RADIUS_M, TOP_RADIUS_M, slices).tolist()):
            where = (0.0, 0.0, (2 * k + 1) * half - CAPSULE_HEIGHT_M / 2)
            if seen:
                capsule.sight(f"capsule_{k}_visual", "cylinder", (radius, half), where, _ORANGE)
            else:
                capsule.solid(f"capsule_{k}", "cylinder", (radius, half), where, _PLASTIC)
