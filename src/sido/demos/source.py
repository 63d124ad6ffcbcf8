"""The contract of a dataset format: what a reader offers, what a writer takes, and what both say of the whole."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Protocol, runtime_checkable

from sido.demos.action_spec import ActionSpec
from sido.demos.demo import Demo, Grasp
from sido.errors import DataError
from sido.geometry import Pose

__all__ = [
    "FROM_GRASP",
    "DatasetInfo",
    "DemoSource",
    "DemoWriter",
    "Environment",
    "Hints",
    "grasp_from_json",
    "grasp_to_json",
]

FROM_GRASP = "grasp"
"""The object key that asks for the end-effector position at the grasp."""


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
                "world_from_base": None
                if pose is None
                else {"position": pose.position.tolist(), "quat_wxyz": pose.quat_wxyz.tolist()},
                "object_position_source": self.object_position_source,
                "filter_keys": {key: list(names) for key, names in self.filter_keys.items()},
                **({"provenance": self.provenance} if self.provenance else {}),
            }
        )

    @classmethod
    def from_json(cls, text: str, *, format: str, cameras: tuple[str, ...]) -> DatasetInfo:
        """Read what `to_json` wrote; `format` and `cameras` are the reader's own finding."""
        try:
            document: Any = json.loads(text)
            if document["sido_dataset"] != 1:
                raise DataError("written by another version of sido", found=document["sido_dataset"], expected=1)
            pose, environment = document["world_from_base"], document["environment"]
            return cls(
                format=format,
                action_spec=ActionSpec.from_dict(document["action_spec"]),
                cameras=cameras,
                environment=None if environment is None else Environment(**environment),
                world_from_base=None if pose is None else Pose(pose["position"], pose["quat_wxyz"]),
                object_position_source=document["object_position_source"],
                filter_keys={key: tuple(names) for key, names in document["filter_keys"].items()},
                provenance=document.get("provenance", ""),
            )
        except (json.JSONDecodeError, KeyError, TypeError) as error:
            raise DataError("sido's own description of the dataset is damaged", found=repr(error)) from error


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


def grasp_to_json(grasp: Grasp) -> str:
    """The annotation that a file keeps beside a demonstration."""
    return json.dumps(dataclasses.asdict(grasp))


def grasp_from_json(text: str) -> Grasp:
    """Read what `grasp_to_json` wrote."""
    try:
        return Grasp(**json.loads(text))
    except (json.JSONDecodeError, TypeError) as error:
        raise DataError("the grasp annotation is damaged", field="grasp", found=text[:80]) from error
