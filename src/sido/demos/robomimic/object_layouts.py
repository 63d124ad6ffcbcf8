"""Where in robosuite's `object` observation each object's position stands.

The order of the vector changed between robosuite 1.4 and 1.5, so an offset alone means nothing: it takes the
environment and the version. `tests/demos/robomimic/test_object_layouts.py` asks the simulator.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from jaxtyping import Bool, Float

from sido.arrays import Array
from sido.demos.robomimic.env_args import is_release_1_5
from sido.demos.source import Environment
from sido.errors import DataError

__all__ = ["OBJECT_LAYOUTS", "ObjectLayout", "object_layout"]

Fields = tuple[tuple[str, int], ...]
"""Names and sizes, in the order in which they are concatenated."""


@dataclass(frozen=True)
class Drawer:
    """A drawer that is opened before the grasp."""

    joint: str
    """As the observation names it."""
    open_below_m: float

    signal: str = "open"
    """MimicGen's name of the subtask that ends when it is open."""


@dataclass(frozen=True)
class ObjectLayout:
    """The `object` observation of one environment."""

    moving: str
    """The object that is grasped, as the observation names it: `<moving>_pos`."""
    annotated: str
    """The same object's name in MimicGen's `datagen_info/object_poses`."""
    until_1_4: Fields
    since_1_5: Fields | None
    """None: nobody has checked the order in robosuite 1.5."""
    drawer: Drawer | None = None

    def fields(self, version: str) -> Fields | None:
        """The order in one version of robosuite; None where it is unknown or where both orders are possible."""
        recent = is_release_1_5(version)
        if recent is None:
            return self.until_1_4 if self.until_1_4 == self.since_1_5 else None
        return self.since_1_5 if recent else self.until_1_4

    def drawer_is_open(self, vectors: Float[Array, "T n"], version: str) -> Bool[Array, " T"] | None:
        """Whether the drawer is open at each step; None if there is none, or the observation does not tell."""
        fields = self.fields(version)
        if self.drawer is None or fields is None or vectors.shape[1:] != (sum(size for _name, size in fields),):
            return None
        column = _columns(fields, self.drawer.joint)
        return None if column is None else vectors[:, column.start] < self.drawer.open_below_m

    def position_of(self, object_name: str, version: str, width: int) -> slice:
        """Where an object's position stands in an `object` observation of `width` numbers."""
        fields = self.fields(version)
        if fields is None:
            raise DataError(
                "the order of the object observation is unknown for this version of robosuite",
                found=repr(version),
                expected="1.4" if self.since_1_5 is None else "1.4 or 1.5",
                fix="name the array with the object's position with --object-key",
            )
        total = sum(size for _name, size in fields)
        if total != width:
            raise DataError(
                "the object observation has another size than its environment gives it",
                found=f"{width} numbers",
                expected=f"{total} ({', '.join(name for name, _size in fields)})",
                fix="name the array with the object's position with --object-key",
            )
        if (found := _columns(fields, f"{object_name}_pos")) is not None:
            return found
        positions = [
            name.removesuffix("_pos") for name, _size in fields if name.endswith("_pos") and "_to_" not in name
        ]
        raise DataError(
            "no such object", found=repr(object_name), expected=f"one of {positions}", fix="name another one"
        )


def _columns(fields: Fields, wanted: str) -> slice | None:
    offset = 0
    for name, size in fields:
        if name == wanted:
            return slice(offset, offset + size)
        offset += size
    return None


def object_layout(environment: Environment | None) -> ObjectLayout | None:
    """The layout of an environment's `object`, whatever variant of MimicGen's it is ("Stack_D1"); None if unknown."""
    if environment is None:
        return None
    name = re.sub(r"_[DO]\d$", "", environment.name)
    return OBJECT_LAYOUTS.get(_ALIASES.get(name, name))


def _pose(name: str) -> Fields:
    return (f"{name}_pos", 3), (f"{name}_quat", 4)


def _from_hand(name: str) -> Fields:
    return (f"{name}_to_robot0_eef_pos", 3), (f"{name}_to_robot0_eef_quat", 4)


def _one_object(moving: str, annotated: str) -> ObjectLayout:
    """Pose, then pose as seen from the hand; robosuite 1.5 has them the other way round."""
    return ObjectLayout(
        moving,
        annotated,
        until_1_4=_pose(moving) + _from_hand(moving),
        since_1_5=_from_hand(moving) + _pose(moving),
    )


_CUBES = _pose("cubeA") + _pose("cubeB")

OBJECT_LAYOUTS: dict[str, ObjectLayout] = {
    "Lift": ObjectLayout(
        "cube",
        "cube",
        until_1_4=(*_pose("cube"), ("gripper_to_cube_pos", 3)),
        since_1_5=(*_pose("cube"), ("gripper_to_cube_pos", 3)),
    ),
    "Stack": ObjectLayout(
        "cubeA",
        "cubeA",
        until_1_4=(*_CUBES, ("gripper_to_cubeA", 3), ("gripper_to_cubeB", 3), ("cubeA_to_cubeB", 3)),
        since_1_5=(*_CUBES, ("cubeA_to_cubeB", 3), ("gripper_to_cubeA", 3), ("gripper_to_cubeB", 3)),
    ),
    "NutAssemblySquare": _one_object("SquareNut", "square_nut"),
    "NutAssemblyRound": _one_object("RoundNut", "round_nut"),
    "PickPlaceCan": _one_object("Can", "can"),
    "PickPlaceMilk": _one_object("Milk", "milk"),
    "PickPlaceBread": _one_object("Bread", "bread"),
    "PickPlaceCereal": _one_object("Cereal", "cereal"),
    "ToolHang": ObjectLayout(
        "frame",
        "frame",
        until_1_4=(
            *(field for name in ("base", "frame", "tool") for field in _pose(name) + _from_hand(name)),
            ("frame_is_assembled", 1),
            ("tool_on_frame", 1),
        ),
        since_1_5=(
            *(field for name in ("base", "frame", "tool") for field in _from_hand(name) + _pose(name)),
            ("frame_is_assembled", 1),
            ("tool_on_frame", 1),
        ),
    ),
    "MugCleanup": ObjectLayout(
        "object",
        "object",
        until_1_4=(
            *(_pose("object") + _from_hand("object") + _pose("drawer") + _from_hand("drawer")),
            ("drawer_joint_pos", 1),
        ),
        since_1_5=None,
        # MimicGen waits for the hand to have left the handle as well, of which the observation does not tell.
        drawer=Drawer("drawer_joint_pos", open_below_m=-0.10),
    ),
}
"""By robosuite's name of the environment. ToolHang grasps the frame first; its position is that of its corner."""

_ALIASES = {
    "Square": "NutAssemblySquare",
}
