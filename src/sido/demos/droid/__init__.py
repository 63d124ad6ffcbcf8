"""DROID's trajectory folders: `trajectory.h5` with a row for every step, and `recordings/` with a video a camera."""

from sido.demos.droid.source import DroidSource

__all__ = ["DroidSource"]
