"""Where a robomimic file says the object is: which array, which of its numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from sido.arrays import Array
from sido.demos.robomimic.object_layouts import OBJECT_LAYOUTS, object_layout
from sido.demos.source import FROM_GRASP, Environment, Hints
from sido.errors import DataError

__all__ = ["ObjectPosition", "find_object_position"]

_POSES, _VECTOR = "datagen_info/object_poses/", "obs/object"


@dataclass(frozen=True)
class ObjectPosition:
    """How to take the object's position, in the file's frame, from a demonstration's arrays."""

    path: str
    columns: slice
    """Of a vector; a pose `[T, 4, 4]` has it in its last column."""
    words: str
    """As a person reads it."""

    def take(self, arrays: Mapping[str, Array]) -> Float[Array, "T 3"]:
        """The position at every step, metres, float64."""
        array = arrays.get(self.path)
        if array is None or array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[1:] != (4, 4)):
            raise DataError(
                "the object's position cannot be taken from here",
                field=self.path,
                found="no such array" if array is None else f"shape {list(array.shape)}",
                expected="[T, 3 or more] or [T, 4, 4]",
                fix="name another array with --object-key",
            )
        position = array[:, :3, 3] if array.ndim == 3 else array[:, self.columns]
        if position.shape[1] != 3:
            raise DataError(
                "too few numbers for a position", field=self.path, found=list(array.shape), expected="[T, 3+]"
            )
        return position.astype(np.float64)


def find_object_position(
    arrays: Mapping[str, Array], environment: Environment | None, hints: Hints, written_by_sido: str | None
) -> tuple[ObjectPosition | None, str | None]:
    """Where the object's position stands, and a warning where there is none to be found.

    Best first: what a person names, what sido wrote, MimicGen's annotation, the layout of the environment's vector.
    """
    if hints.object_key == FROM_GRASP:
        return None, None
    if hints.object_key is not None:
        if hints.object_key not in arrays:
            raise DataError(
                "there is no such array",
                field=hints.object_key,
                expected=f"one of {', '.join(sorted(arrays))}",
                fix="name another one with --object-key",
            )
        return ObjectPosition(hints.object_key, slice(0, 3), f"{hints.object_key}[0:3] (as told)"), None
    if written_by_sido is not None and hints.object_name is None:
        return ObjectPosition(written_by_sido, slice(0, 3), written_by_sido), None
    layout = object_layout(environment)
    annotated = sorted(path.removeprefix(_POSES) for path in arrays if path.startswith(_POSES))
    chosen = hints.object_name or (layout.annotated if layout else None)
    if chosen is None and len(annotated) == 1:
        chosen = annotated[0]
    if chosen in annotated:
        return ObjectPosition(f"{_POSES}{chosen}", slice(0, 3), f"{_POSES}{chosen}"), None
    if layout is not None and environment is not None and _VECTOR in arrays:
        name = hints.object_name or layout.moving
        try:
            columns = layout.position_of(name, environment.version, arrays[_VECTOR].shape[-1])
        except DataError as error:
            raise error.at(field=_VECTOR) from None
        words = (
            f"{_VECTOR}[{columns.start}:{columns.stop}] ({name}, {environment.name}, robosuite {environment.version})"
        )
        return ObjectPosition(_VECTOR, columns, words), None
    if hints.object_name is not None:
        raise DataError("no such object", found=repr(hints.object_name), expected=f"one of {annotated or 'none'}")
    if annotated or _VECTOR in arrays:
        raise _undecided(environment, annotated)
    return None, f"the file has no object pose: neither {_POSES}* nor {_VECTOR} is recorded"


def _undecided(environment: Environment | None, annotated: list[str]) -> DataError:
    """There is an object's pose in the file, and to guess which it is would be nonsense that nobody notices."""
    if annotated:
        return DataError(
            "several objects are annotated",
            field=_POSES.rstrip("/"),
            found=", ".join(annotated),
            expected="the one that is grasped",
            fix="name it with --object-name",
        )
    return DataError(
        f"which numbers of {_VECTOR} are the object's position is not known for this environment",
        field="env_args",
        found="no environment" if environment is None else f"{environment.name!r}",
        expected=f"one of {', '.join(OBJECT_LAYOUTS)}",
        fix=f"name an array whose first three numbers they are with --object-key ({_VECTOR}, say), "
        f"or take the hand's position at the grasp with --object-key {FROM_GRASP}",
    )
