"""What a robomimic file calls things, task by task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import metadata
from typing import final

from sido.demos.robomimic.object_layouts import object_layout
from sido.demos.source import Environment
from sido.sim.tasks import Task

__all__ = ["Annotation", "annotation_of"]

Fields = tuple[tuple[str, int], ...]


@final
@dataclass(frozen=True)
class Annotation:
    """Names of a task's environment and objects."""

    environment: str
    """As robosuite has it, or, of a task of our own, as Gymnasium has it."""
    bodies: Mapping[str, str]
    """An object's name in `datagen_info/object_poses` -> of its body in the model; the moving one first."""
    observed: Mapping[str, str] = field(default_factory=dict[str, str])
    """The same for names that the `object` observation has beside them."""
    joints: Mapping[str, str] = field(default_factory=dict[str, str])
    """A number of that observation -> the joint that it is the position of."""

    @property
    def robosuite(self) -> bool:
        """Whether robosuite itself has this environment."""
        return not self.environment.startswith("sido/")

    @property
    def version(self) -> str:
        """Of robosuite or of sido."""
        return metadata.version("robosuite" if self.robosuite else "sido")

    @property
    def fields(self) -> Fields:
        """The `object` observation: names and sizes. Of a robosuite task, robosuite's own."""
        layout = object_layout(Environment(self.environment, self.version)) if self.robosuite else None
        known = None if layout is None else layout.fields(self.version)
        if known is not None:
            return known
        poses = tuple(
            (f"{name}_{part}", size)
            for name in self.bodies
            for part, size in (("pos", 3), ("quat", 4), ("to_robot0_eef_pos", 3), ("to_robot0_eef_quat", 4))
        )
        return poses + tuple((name, 1) for name in self.joints)


_ANNOTATIONS = {
    "stack": Annotation("Stack", {"cubeA": "cubeA_main", "cubeB": "cubeB_main"}),
    "square": Annotation(
        "NutAssemblySquare", {"square_nut": "SquareNut_main", "square_peg": "peg1"}, {"SquareNut": "SquareNut_main"}
    ),
    # As MimicGen's MugCleanup.
    "mug": Annotation("sido/Mug-v0", {"object": "mug", "drawer": "drawer"}, joints={"drawer_joint_pos": "drawer"}),
    "gantry": Annotation("sido/Gantry-v0", {"capsule": "capsule", "box": "box"}),
    "peachtree": Annotation("sido/Peachtree-v0", {"peach": "peach", "basket": "basket"}),
}


def annotation_of(task: Task) -> Annotation:
    """The names for a task; one that is not sido's own has its moving object alone."""
    known = _ANNOTATIONS.get(task.name)
    if known is not None:
        return known
    scene = task.scene
    body = str(scene.model.body(scene[task.moving].body).name)
    return Annotation(f"sido/{task.name.capitalize()}-v0", {task.moving: body})
