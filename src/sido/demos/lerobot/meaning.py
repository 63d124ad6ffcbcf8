"""Which columns of a dataset become which fields of a `Demo`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from sido.arrays import Array
from sido.demos.action_spec import ActionSpec
from sido.demos.lerobot.annotations import Column, DatasetNotes
from sido.demos.lerobot.conventions import StateLayout, action_feature, assumed_action_spec, state_layout, with_rate
from sido.demos.lerobot.layout import ACTION, ENVIRONMENT_STATE, IMAGES_PREFIX, INFO_PATH, STATE, DatasetLayout, Feature
from sido.demos.source import FROM_GRASP, DatasetInfo, Hints
from sido.errors import DataError

__all__ = ["Meaning"]


@dataclass(frozen=True)
class Meaning:
    """sido's own notes where there are any, conventions where not, and a person's hints above both."""

    info: DatasetInfo
    cameras: Mapping[str, str]
    """Camera -> feature."""
    state: StateLayout
    object_feature: str | None
    notes: DatasetNotes | None

    @classmethod
    def of(cls, layout: DatasetLayout, notes: DatasetNotes | None, hints: Hints) -> Meaning:
        cameras = _chosen_cameras(layout, notes, hints)
        file = layout.root / INFO_PATH
        if notes:
            _require_noted(layout, notes, file)
        else:
            action_feature(layout)
        state = _noted_state(notes) if notes else state_layout(_number_features(layout).get(STATE), file=file)
        object_feature = _feature_of_object(layout, notes, hints)
        spec, doubts = _action_spec(layout, notes, hints)
        warnings = [*doubts, *_left_out(layout)]
        name = f"LeRobot {layout.version}"
        if notes:
            info = notes.dataset_info(format=name, cameras=tuple(cameras))
        else:
            info = DatasetInfo(name, spec, tuple(cameras))
            warnings.append("positions are taken to be metres in the robot's base frame: the files do not say")
        if state.warning:
            warnings.append(state.warning)
        source = info.object_position_source
        if object_feature is None:
            source = None
            warnings.append(
                f"there is no position of the object: name its array with --object-key, or add {ENVIRONMENT_STATE}"
            )
        elif source is None or hints.object_key is not None:
            source = f"the first three numbers of {object_feature}"
        info = replace(info, action_spec=spec, object_position_source=source, warnings=tuple(warnings))
        return cls(info, cameras, state, object_feature, notes)

    @property
    def signals(self) -> Mapping[str, str]:
        """Feature -> subtask."""
        return self.notes.signals if self.notes else {}

    def object_position(self, arrays: Mapping[str, Array]) -> Float[Array, "T 3"] | None:
        if self.object_feature is None:
            return None
        array = arrays[self.object_feature]
        return array.reshape(len(array), -1)[:, :3].astype(np.float64)

    def recorded(self, arrays: Mapping[str, Array], length: int) -> dict[str, Array]:
        """Whatever is not wholly in another field."""
        if self.notes:
            noted = self.notes.recorded.items()
            return {column.key: _restored(arrays.get(feature), column, length) for feature, column in noted}
        taken = {ACTION}
        if self.state.size_used == arrays[STATE].shape[1]:
            taken.add(STATE)
        if self.object_feature == ENVIRONMENT_STATE and arrays[ENVIRONMENT_STATE].shape[1:] == (3,):
            taken.add(ENVIRONMENT_STATE)
        return {
            key: array[:, 0] if array.shape[1:] == (1,) else array for key, array in arrays.items() if key not in taken
        }


def _restored(array: Array | None, column: Column, length: int) -> Array:
    """An array as it was before it became a column (or none, if it has no numbers)."""
    empty = np.empty((length, 0)) if array is None else array
    return empty.astype(np.dtype(column.dtype)).reshape(length, *column.shape)


def _noted_state(notes: DatasetNotes) -> StateLayout:
    fingers = tuple(range(7, 7 + notes.fingers))
    return StateLayout(position=(0, 1, 2), rotation_form="quat_xyzw", rotation=(3, 4, 5, 6), gripper=fingers)


def _require_noted(layout: DatasetLayout, notes: DatasetNotes, file: object) -> None:
    """Raise unless the dataset has every column that sido's notes speak of, in the size that they say."""
    sizes = {STATE: 7 + notes.fingers, ACTION: notes.dataset_info(format="", cameras=()).action_spec.dim}
    sizes |= dict.fromkeys(notes.signals, 1)
    sizes |= {feature: column.size for feature, column in notes.recorded.items() if column.size}
    features = _number_features(layout)
    for key, size in sizes.items():
        found = features.get(key)
        if found is None or math.prod(found.shape) != size:
            raise DataError(
                "the dataset's columns are not those that sido wrote",
                file=file,
                field=f"features > {key}",
                found="nothing of numbers" if found is None else f"{found.dtype}{list(found.shape)}",
                expected=f"{size} numbers a step",
                fix="delete meta/sido.json to read the dataset by LeRobot's conventions, or convert it again",
            )


def _action_spec(layout: DatasetLayout, notes: DatasetNotes | None, hints: Hints) -> tuple[ActionSpec, tuple[str, ...]]:
    """What the actions mean, and the warnings that come with it."""
    if hints.action_spec is not None:
        return with_rate(hints.action_spec, layout.rate_hz)
    if notes is not None:
        return notes.dataset_info(format="", cameras=()).action_spec, ()
    spec, doubt = assumed_action_spec(layout)
    return spec, (doubt,)


def _number_features(layout: DatasetLayout) -> dict[str, Feature]:
    return {key: feature for key, feature in layout.features.items() if feature.is_number}


def _chosen_cameras(layout: DatasetLayout, notes: DatasetNotes | None, hints: Hints) -> dict[str, str]:
    """Camera -> feature."""
    noted: Mapping[str, str] = notes.cameras if notes else {}
    there = {
        noted.get(key, key.removeprefix(IMAGES_PREFIX)): key
        for key, feature in layout.features.items()
        if feature.image_size
    }
    wanted = there if hints.cameras is None else hints.cameras
    unknown = [camera for camera in wanted if camera not in there]
    if unknown:
        raise DataError(
            "no such camera",
            file=layout.root,
            found=", ".join(unknown),
            expected=", ".join(there) or "no camera at all",
        )
    return {camera: there[camera] for camera in wanted}


def _feature_of_object(layout: DatasetLayout, notes: DatasetNotes | None, hints: Hints) -> str | None:
    """The column whose first three numbers are the object's position."""
    long_enough = [key for key, feature in _number_features(layout).items() if math.prod(feature.shape) >= 3]
    if hints.object_key == FROM_GRASP:
        return None
    if hints.object_key is None:
        return ENVIRONMENT_STATE if ENVIRONMENT_STATE in long_enough else None
    recorded: Mapping[str, Column] = notes.recorded if notes else {}
    features = {column.key: feature for feature, column in recorded.items()}
    feature = features.get(hints.object_key, hints.object_key)
    if feature not in long_enough:
        keys = [recorded[name].key if name in recorded else name for name in long_enough]
        raise DataError(
            "no such array to take the object's position from",
            file=layout.root,
            field=hints.object_key,
            expected=f"one of {', '.join(keys)}",
            fix="name one of them with --object-key",
        )
    return feature


def _left_out(layout: DatasetLayout) -> list[str]:
    features = layout.features.items()
    reasons = {
        "they are no RGB cameras": [key for key, feature in features if feature.is_camera and not feature.image_size],
        "they hold no numbers": [key for key, feature in features if not feature.is_camera and not feature.is_number],
    }
    return [f"left out, because {reason}: {', '.join(keys)}" for reason, keys in reasons.items() if keys]
