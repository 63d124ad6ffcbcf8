"""Bodies made of primitives, written as MJCF."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, final
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from sido.errors import SettingError

__all__ = ["Body", "Look", "Matter", "Shape", "add_camera", "aim_camera", "leave_apart", "light_from", "numbers"]

Shape = Literal["box", "cylinder", "capsule", "ellipsoid", "sphere"]


@final
@dataclass(frozen=True)
class Look:
    """A colour: red, green, blue, 0 to 1."""

    rgb: tuple[float, float, float]


@final
@dataclass(frozen=True)
class Matter:
    """What a solid is made of."""

    density: float = 400.0
    """kg/m^3; light, as the walls of hollow things are modelled thicker than they are."""
    friction: tuple[float, float, float] = (1.0, 0.01, 1e-4)
    """Sliding, 1; torsional and rolling, m. MuJoCo takes the larger of two bodies."""
    contact_axes: Literal[3, 4, 6] = 4
    """Of friction: 3 slides, 4 also twists, 6 also rolls."""


@final
@dataclass(frozen=True)
class Body:
    """A body being built.

    As in robosuite, what collides (and weighs) is in geom group 0 and what is seen is in group 1, so that a renderer
    shows one and the physics knows the other.
    """

    element: Element

    @classmethod
    def within(
        cls,
        parent: Element,
        name: str,
        position_m: Sequence[float] = (0.0, 0.0, 0.0),
        *,
        carried: bool = False,
        free: bool = False,
    ) -> Body:
        """A new body.

        Args:
            parent: The worldbody, or a body.
            name: Its name; also of its free joint, if any.
            position_m: In the parent's frame.
            carried: Placed by hand (`mocap`): it has no dynamics.
            free: On a free joint.
        """
        element = SubElement(parent, "body", name=name, pos=numbers(position_m))
        if carried:
            element.set("mocap", "true")
        if free:
            SubElement(element, "freejoint", name=name)
        return cls(element)

    def body(self, name: str, position_m: Sequence[float]) -> Body:
        """A body that hangs on this one."""
        return Body.within(self.element, name, position_m)

    def solid(
        self,
        name: str,
        shape: Shape,
        size_m: Sequence[float],
        position_m: Sequence[float],
        matter: Matter,
        look: Look | None = None,
        *,
        yaw_rad: float = 0.0,
    ) -> None:
        """A shape that collides; and that is seen, if it has a look. Sizes are MuJoCo's: halves and radii."""
        geom = self._geom(name, shape, size_m, position_m, _about_z(yaw_rad))
        geom.set("group", "0")
        geom.set("density", f"{matter.density:g}")
        geom.set("friction", numbers(matter.friction))
        geom.set("condim", str(matter.contact_axes))
        geom.set("rgba", "0.5 0.5 0.5 0.5")
        if look is not None:
            self.sight(f"{name}_visual", shape, size_m, position_m, look, yaw_rad=yaw_rad)

    def sight(
        self,
        name: str,
        shape: Shape,
        size_m: Sequence[float],
        position_m: Sequence[float],
        look: Look,
        *,
        yaw_rad: float = 0.0,
    ) -> None:
        """A shape that is only seen."""
        self._seen(self._geom(name, shape, size_m, position_m, _about_z(yaw_rad)), look)

    def rod(self, name: str, start_m: Sequence[float], end_m: Sequence[float], radius_m: float, look: Look) -> None:
        """A round rod from point to point that is only seen."""
        geom = SubElement(self.element, "geom", name=name, type="capsule", size=f"{radius_m:g}")
        geom.set("fromto", numbers((*start_m, *end_m)))
        self._seen(geom, look)

    def _geom(
        self, name: str, shape: Shape, size_m: Sequence[float], position_m: Sequence[float], quat_wxyz: Sequence[float]
    ) -> Element:
        geom = SubElement(self.element, "geom", name=name, type=shape, size=numbers(size_m), pos=numbers(position_m))
        geom.set("quat", numbers(quat_wxyz))
        return geom

    def _seen(self, geom: Element, look: Look) -> None:
        geom.set("group", "1")
        geom.set("contype", "0")
        geom.set("conaffinity", "0")
        geom.set("mass", "0")
        geom.set("rgba", numbers((*look.rgb, 1.0)))


def leave_apart(root: Element, first: str, second: str) -> None:
    """Two bodies pass through each other."""
    contact = root.find("contact")
    if contact is None:
        contact = SubElement(root, "contact")
    SubElement(contact, "exclude", body1=first, body2=second)


def add_camera(
    root: Element, name: str, position_m: Sequence[float], target_m: Sequence[float], *, fovy_deg: float = 45.0
) -> None:
    """A new camera of the world that looks at a point, upright; as `aim_camera` turns one that is there."""
    world = root.find("worldbody")
    if world is None:
        raise SettingError("the model has no worldbody")
    SubElement(world, "camera", name=name)
    aim_camera(root, name, position_m, target_m, fovy_deg=fovy_deg)


def aim_camera(
    root: Element, name: str, position_m: Sequence[float], target_m: Sequence[float], *, fovy_deg: float = 45.0
) -> None:
    """Turn a camera of the world so that it looks at a point, upright.

    Args:
        root: The model; changed in place.
        name: The camera's.
        position_m: Where it is to stand.
        target_m: What is to be in the middle of its picture.
        fovy_deg: Its vertical field of view.

    Raises:
        SettingError: there is no such camera.
    """
    camera = next((camera for camera in root.iterfind("worldbody/camera") if camera.get("name") == name), None)
    if camera is None:
        raise SettingError("the model has no such camera", found=repr(name))
    back = np.asarray(position_m, dtype=np.float64) - np.asarray(target_m, dtype=np.float64)
    right = np.cross((0.0, 0.0, 1.0), back)
    up = np.cross(back, right)
    camera.attrib.pop("quat", None)
    camera.set("pos", numbers(position_m))
    camera.set("xyaxes", numbers((*right.tolist(), *up.tolist())))
    camera.set("fovy", f"{fovy_deg:g}")


def light_from(root: Element, position_m: Sequence[float], *, brightness: float = 0.3) -> None:
    """A faint lamp at that side of the table, without shadows: sides that the arena's lamp leaves black are seen."""
    world = root.find("worldbody")
    if world is None:
        raise SettingError("the model has no worldbody")
    lamp = SubElement(world, "light", pos=numbers(position_m), dir=numbers([-value for value in position_m]))
    lamp.set("directional", "true")
    lamp.set("castshadow", "false")
    lamp.set("diffuse", numbers((brightness,) * 3))
    lamp.set("specular", "0 0 0")


def numbers(values: Sequence[float]) -> str:
    """As MJCF writes a vector; MuJoCo refuses to read subnormal numbers, which are 0 to anybody else."""
    return " ".join(f"{value if abs(value) >= sys.float_info.min else 0.0:.9g}" for value in values)


def _about_z(angle_rad: float) -> tuple[float, float, float, float]:
    return math.cos(angle_rad / 2), 0.0, 0.0, math.sin(angle_rad / 2)
