"""Where the robot stands in the world of a robosuite file."""

from __future__ import annotations

from xml.etree import ElementTree

from sido.demos.robomimic.object_layouts import object_layout
from sido.demos.source import Environment
from sido.errors import DataError
from sido.geometry import Pose

__all__ = ["base_in_model", "known_base"]

_BASE_BODY = "robot0_base"
_PIECE = 32_768  # characters
_ORIENTATIONS = ("quat", "euler", "axisangle", "xyaxes", "zaxis")

# robosuite's Panda at a table 0.8 m wide, at the bins, and nowhere else; read out of the simulator, 1.4.1 and 1.5.2.
_PANDA_AT_TABLE_M, _PANDA_AT_BINS_M = (-0.56, 0.0, 0.912), (-0.5, -0.1, 0.912)


def base_in_model(mjcf: str) -> Pose | None:
    """`world_from_base`, read from an episode's MJCF model; None if the model has no `robot0_base`."""
    target = _BaseFinder()
    parser = ElementTree.XMLParser(target=target)
    try:
        # Reading stops at the base, which stands before the arm's many parts.
        for start in range(0, len(mjcf), _PIECE):
            parser.feed(mjcf[start : start + _PIECE])
            if target.found is not None:
                return target.found
        parser.close()
    except ElementTree.ParseError as error:
        raise DataError("not XML", field="model_file", found=str(error), fix="delete the attribute") from error
    return target.found


class _BaseFinder:
    """Follows an XML parser through the tree of bodies, until the base."""

    def __init__(self) -> None:
        self.found: Pose | None = None
        self._world_from_body = [Pose.identity()]

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "body" and self.found is None:
            self._world_from_body.append(self._world_from_body[-1] @ _pose_of(attributes))
            if attributes.get("name") == _BASE_BODY:
                self.found = self._world_from_body[-1]

    def end(self, tag: str) -> None:
        if tag == "body" and self.found is None:
            self._world_from_body.pop()

    def close(self) -> None:
        """Nothing is left to be done at the end."""


def known_base(environment: Environment | None, robot: str) -> Pose | None:
    """`world_from_base` where a file has no model but names an environment that we know."""
    layout = object_layout(environment)
    if environment is None or layout is None or robot != "Panda":
        return None
    at_bins = environment.name.startswith("PickPlace")
    return Pose(_PANDA_AT_BINS_M if at_bins else _PANDA_AT_TABLE_M, (1.0, 0.0, 0.0, 0.0))


def _pose_of(body: dict[str, str]) -> Pose:
    turned = [name for name in _ORIENTATIONS if name in body]
    if turned not in ([], ["quat"]):
        raise DataError(
            "a body's orientation is not a quaternion",
            field=f"model_file, body {body.get('name')!r}",
            found=turned,
            expected="quat",
        )
    return Pose(_numbers(body, "pos", "0 0 0"), _numbers(body, "quat", "1 0 0 0"))


def _numbers(body: dict[str, str], name: str, default: str) -> list[float]:
    """An attribute of numbers, as many as its default has."""
    words = body.get(name, default).split()
    try:
        numbers = [float(word) for word in words]
    except ValueError:
        numbers = []
    if len(numbers) != len(default.split()):
        raise DataError(
            "not numbers",
            field=f"model_file, body {body.get('name')!r}, {name}",
            found=repr(body[name]),
            expected=f"{len(default.split())} numbers, as in {default!r}",
        )
    return numbers
