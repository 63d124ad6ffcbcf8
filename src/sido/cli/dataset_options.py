"""The options by which a person says what a dataset's files don't; every verb that opens one shares them."""

from __future__ import annotations

from dataclasses import dataclass

from sido.demos import DemoDataset, Hints, action_spec, open_dataset

__all__ = ["DatasetOptions"]


@dataclass(frozen=True)
class DatasetOptions:
    """How to read the dataset, where its files leave that open."""

    filter_key: str | None = None
    """Only the demonstrations that the file groups under this name (robomimic's masks: train, valid)."""
    object_key: str | None = None
    """The recorded array whose first three numbers are the object's position, for example obs/object; or grasp, to
    take it to be where the hand closes."""
    object_name: str | None = None
    """Which object is grasped, where the dataset annotates several: cubeA."""
    action_spec: str | None = None
    """What actions mean: osc-delta, osc-absolute, rot6d-absolute, droid, or a JSON object of ActionSpec's fields."""

    def open(self, path: str) -> DemoDataset:
        """Open the dataset at `path` as told."""
        hints = Hints(
            action_spec=None if self.action_spec is None else action_spec(self.action_spec),
            object_key=self.object_key,
            object_name=self.object_name,
        )
        return open_dataset(path, hints=hints, filter_key=self.filter_key)
