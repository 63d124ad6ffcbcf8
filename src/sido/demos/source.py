"""The contract of a dataset format: what a reader offers, what a writer takes, and what both say of the whole."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Protocol, runtime_checkable

from sido.demos.action_spec import ActionSpec
from sido.demos.demo import Demo, Grasp
from sido.demos.json_document import JsonNode, mended_by, parse_json
from sido.errors import DataError
from sido.geometry import Pose

__all__ = [
    "FROM_GRASP",
    "OWN_BASE",
    "DatasetInfo",
    "DemoSource",
    "DemoWriter",
    "Environment",
    "Hints",
    "grasp_from_json",
    "grasp_from_node",
    "grasp_to_json",
    "own_base",
    "own_base_to_json",
]

FROM_GRASP = "grasp"
"""The object key that asks for the end-effector position at the grasp."""

_OWN = "sido's own description of the dataset"


@dataclass(frozen=True)
class Environment:
    """The simulation (or the cell) that the demonstrations were made in."""

    name: str
    """As the dataset says it: "Stack_D0"."""
    version: str = ""
    """Of the simulator: "1.4.1"; the layout of observations depends on it."""
    json: str = ""
    """robomimic's `env_args`, verbatim."""


@dataclass(frozen=True)
class Hints:
    """What a person knows of a dataset that its files don't say. Every field overrides what a reader finds."""

    action_spec: ActionSpec | None = None
    object_key: str | None = None
    """The recorded array whose first three numbers are the object's position, for example "obs/object"; or
    `FROM_GRASP`, to take it to be where the hand closes, whatever the files say."""
    object_name: str | None = None
    """Which object moves, where a dataset annotates several: "cubeA"."""
    cameras: tuple[str, ...] | None = None
    """Read only these; None reads all that there are."""


@dataclass(frozen=True)
class DatasetInfo:
    """What is true of a dataset as a whole."""

    format: str
    """As a person says it: "robomimic HDF5", "LeRobot v3.0", "diffusion_policy zarr", "DROID"."""
    action_spec: ActionSpec
    cameras: tuple[str, ...] = ()
    environment: Environment | None = None
    world_from_base: Pose | None = None
    """Where the robot stands, if the files' own frame is another than its base; None: it is the base frame, or the
    files do not say (a warning then does)."""
    object_position_source: str | None = None
    """Where `Demo.object_position` comes from, in words; None where the dataset has no object pose."""
    filter_keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Named subsets of the demonstrations (robomimic's masks): "train" -> demo names."""
    warnings: tuple[str, ...] = ()
    """What a person should know before training on it."""
    provenance: str = ""
    """How it was made, as whoever made it says it: of `sido collect`, JSON with the recipe and what it cost."""

    def to_json(self) -> str:
        """What a file of any format keeps beside the data, so that reading it back needs no guess."""
        pose = self.world_from_base
        return json.dumps(
            {
                "sido_dataset": 1,
                "action_spec": dataclasses.asdict(self.action_spec),
                "environment": None if self.environment is None else dataclasses.asdict(self.environment),
                "world_from_base": None if pose is None else _pose_document(pose),
                "object_position_source": self.object_position_source,
                "filter_keys": {key: list(names) for key, names in self.filter_keys.items()},
                **({"provenance": self.provenance} if self.provenance else {}),
            }
        )

    @classmethod
    def from_json(cls, text: str, *, format: str, cameras: tuple[str, ...]) -> DatasetInfo:
        """Read what `to_json` wrote; `format` and `cameras` are the reader's own finding."""
        with mended_by("convert the dataset again"):
            return cls._from_node(parse_json(text, place=_OWN), format, cameras)

    @classmethod
    def _from_node(cls, document: JsonNode, format: str, cameras: tuple[str, ...]) -> DatasetInfo:
        version = document["sido_dataset"].whole()
        if version != 1:
            raise DataError("written by another version of sido", field=_OWN, found=version, expected=1)
        pose, environment = document.get("world_from_base"), document.get("environment")
        source, provenance = document.get("object_position_source"), document.get("provenance")
        return cls(
            format=format,
            action_spec=ActionSpec.from_json_node(document["action_spec"]),
            cameras=cameras,
            environment=None
            if environment is None
            else Environment(*(environment[name].text() for name in ("name", "version", "json"))),
            world_from_base=None if pose is None else _pose(pose),
            object_position_source=None if source is None else source.text(),
            filter_keys={key: names.texts() for key, names in document["filter_keys"].items()},
            provenance="" if provenance is None else provenance.text(),
        )


def _pose_document(pose: Pose) -> dict[str, list[float]]:
    return {"position": pose.position.tolist(), "quat_wxyz": pose.quat_wxyz.tolist()}


def _pose(node: JsonNode) -> Pose:
    parts = {name: [entry.number() for entry in node[name].each()] for name in ("position", "quat_wxyz")}
    if [len(numbers) for numbers in parts.values()] != [3, 4] or not any(parts["quat_wxyz"]):
        raise node.wrong("3 numbers and a quaternion of 4")
    return Pose(**parts)


@runtime_checkable
class DemoSource(Protocol):
    """A dataset that is open for reading. Opening reads what is needed to list it; arrays come with `read`.

    `tests/contracts/demo_source.py` holds what every format must satisfy.
    """

    @property
    def info(self) -> DatasetInfo: ...

    @property
    def names(self) -> tuple[str, ...]:
        """The demonstrations in the dataset's own order: "demo_0", "demo_1", ... (numeric, not by spelling)."""
        ...

    def length(self, index: int) -> int:
        """How many control steps demonstration `index` has, without reading its arrays."""
        ...

    def read(self, index: int) -> Demo:
        """One demonstration: low-dimensional arrays in memory, images lazily."""
        ...

    def close(self) -> None: ...


@runtime_checkable
class DemoWriter(Protocol):
    """A dataset being written, demonstration by demonstration. The final name appears when the block ends well."""

    def __enter__(self) -> DemoWriter: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def write(self, demo: Demo) -> None: ...


OWN_BASE = "sido_world_from_base"
"""In a demonstration's metadata: where its own robot stands, if that is elsewhere than the dataset says. It stands in
the metadata for every format to carry it along, as what is `recorded` is in the world of that demonstration."""


def own_base(metadata: Mapping[str, str]) -> Pose | None:
    """`world_from_base` of one demonstration, from its metadata; None where that of the dataset holds."""
    text = metadata.get(OWN_BASE)
    if text is None:
        return None
    with mended_by("delete the entry"):
        return _pose(parse_json(text, place=OWN_BASE))


def own_base_to_json(world_from_base: Pose) -> str:
    """What `own_base` reads."""
    return json.dumps(_pose_document(world_from_base))


def grasp_to_json(grasp: Grasp) -> str:
    """The annotation that a file keeps beside a demonstration."""
    return json.dumps(dataclasses.asdict(grasp))


def grasp_from_json(text: str) -> Grasp:
    """Read what `grasp_to_json` wrote."""
    with mended_by("delete the annotation, for the grasp to be looked for again"):
        return grasp_from_node(parse_json(text, place="grasp"))


def grasp_from_node(node: JsonNode) -> Grasp:
    """The same from within a larger document."""
    with mended_by("delete the annotation, for the grasp to be looked for again"):
        return Grasp(node["index"].whole(), node["source"].text(), node["window_start"].whole())
