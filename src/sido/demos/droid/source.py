"""Reading a folder of DROID episodes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int64, UInt8

from sido.arrays import Array
from sido.demos.action_spec import ACTION_SPECS
from sido.demos.demo import Demo
from sido.demos.droid.episode import FILE, Layout, read_arm, read_attributes, read_layout, read_recorded
from sido.demos.files_below import files_below
from sido.demos.frames import Frames
from sido.demos.source import FROM_GRASP, DatasetInfo, Hints
from sido.errors import DataError, SettingError
from sido.geometry import matrix_from_euler_xyz, quat_from_matrix

__all__ = ["DroidSource"]

_LOST_FRAMES = 5  # that a recording may lack at its end: the cameras are stopped before the last rows are written
_OUTCOMES = ("success", "failure")  # the folders that DROID sorts episodes into
_FLANGE_WARNING = (
    "DROID's cartesian_position is the arm's flange (panda_link8), not the point between the fingers: an object "
    "position that is taken from the grasp lies above the object by the length of the gripper"
)
_SVO_WARNING = (
    "the recordings are SVO files, which only ZED's SDK reads: no images (DROID's svo_to_mp4.py converts them)"
)


@dataclass(frozen=True)
class _Video:
    """One camera's recording."""

    path: Path

    @cached_property
    def file(self) -> Any:
        """Its `VideoFile`; imported here, so that arms can be read where PyAV is not installed."""
        from sido.demos.video import VideoFile

        return VideoFile(self.path)

    def frames(self, steps: Int64[Array, " T"]) -> Frames:
        """Frame `i` belongs to row `i`. Of two eyes side by side the left one is shown."""
        _, height, width, channels = self.file.shape
        shown = width // 2 if width > 2.5 * height else width

        def read(wanted: Int64[Array, " N"]) -> UInt8[Array, "N height width 3"]:
            return self.file.read(steps[wanted])[:, :, :shown]

        return Frames((len(steps), height, shown, channels), read)


class DroidSource:
    """DROID episodes, found in any depth of folders. Steps at which the robot was not enabled are left out.

    Actions are absolute, as `ACTION_SPECS["droid"]` says: Cartesian position, Euler angles, gripper. Opening reads the
    first episode only; a damaged one is reported when it is read.
    """

    def __init__(self, path: Path | str, hints: Hints | None = None) -> None:
        path, self._hints = Path(path), hints or Hints()
        self._root = path.parent if path.is_file() else path
        files = [path] if path.is_file() else sorted(file for file in files_below(path) if file.name == FILE)
        if not files:
            raise DataError("there are no DROID episodes", file=path, expected=f"folders with a {FILE}")
        self._folders = [file.parent for file in files]
        self._names = tuple(
            folder.name if folder == self._root else folder.relative_to(self._root).as_posix()
            for folder in self._folders
        )
        self._object_key = None if self._hints.object_key == FROM_GRASP else self._hints.object_key
        self._layouts: dict[int, Layout] = {}
        self._lengths: dict[int, int] = {}
        self._files: dict[Path, _Video] = {}
        self._cameras = self._choose_cameras()
        self._info = self._describe()

    @property
    def info(self) -> DatasetInfo:
        return self._info

    @property
    def names(self) -> tuple[str, ...]:
        """The folders, as they lie under the one that was opened."""
        return self._names

    def length(self, index: int) -> int:
        return len(self._steps(index))

    def read(self, index: int) -> Demo:
        folder, name = self._folders[index], self.names[index]
        try:
            steps = self._steps(index)
            arm, recorded = read_arm(folder, steps), read_recorded(folder, self._layout(index), steps)
            attributes = read_attributes(folder)
            return Demo(
                name=name,
                actions=arm.command,
                action_spec=self._info.action_spec,
                eef_position=arm.state[:, :3],
                eef_quat_wxyz=quat_from_matrix(matrix_from_euler_xyz(arm.state[:, 3:])),
                gripper=arm.gripper,
                object_position=self._object(recorded),
                images={camera: video.frames(steps) for camera, video in self._videos(index).items()},
                task=attributes.get("current_task", ""),
                recorded=recorded,
                metadata=attributes,
            )
        except DataError as error:
            raise error.at(file=folder / FILE, demo=name) from error.__cause__

    def close(self) -> None:
        """Nothing stays open between reads."""

    def _layout(self, index: int) -> Layout:
        if index not in self._layouts:
            self._layouts[index] = read_layout(self._folders[index])
        return self._layouts[index]

    def _steps(self, index: int) -> Int64[Array, " T"]:
        """The rows that count and that every camera shows: DROID's own loader stops where the first recording does."""
        layout = self._layout(index)
        if index not in self._lengths:
            rows = layout.rows
            for camera, video in self._videos(index).items():
                count = video.file.frame_count
                if count < layout.rows - _LOST_FRAMES:
                    raise DataError(
                        "the recording is cut short",
                        file=video.path,
                        demo=self.names[index],
                        field=camera,
                        found=f"{count} frames",
                        expected=f"{layout.rows}, one for each row of {FILE}",
                        fix="convert the SVO file again, or leave the camera out",
                    )
                rows = min(rows, count)
            self._lengths[index] = int(np.searchsorted(layout.steps, rows))
        return layout.steps[: self._lengths[index]]

    def _videos(self, index: int) -> dict[str, _Video]:
        """The recordings of the chosen cameras, which every episode must have."""
        found = self._recordings(index)
        missing = [camera for camera in self._cameras if camera not in found]
        if missing:
            raise DataError(
                "there is no MP4 of a camera",
                file=self._folders[index] / "recordings",
                demo=self.names[index],
                field=missing[0],
                found=f"MP4s of {sorted(found)}",
                fix="convert the SVO files (DROID's svo_to_mp4.py), or read other cameras",
            )
        return {camera: found[camera] for camera in self._cameras}

    def _recordings(self, index: int) -> dict[str, _Video]:
        recordings = self._folders[index] / "recordings"
        found: dict[str, _Video] = {}
        for camera, serial in self._layout(index).serials.items():
            places = (f"MP4/{serial}.mp4", f"{serial}.mp4", f"MP4/{serial}-stereo.mp4")
            path = next((recordings / place for place in places if (recordings / place).is_file()), None)
            if path is not None:
                found[camera] = self._files.setdefault(path, _Video(path))
        return found

    def _choose_cameras(self) -> tuple[str, ...]:
        found = self._recordings(0)
        if self._hints.cameras is None:
            return tuple(found)
        unknown = sorted(set(self._hints.cameras) - set(found))
        if unknown:
            raise SettingError("no such camera", file=self._root, found=unknown, expected=f"some of {sorted(found)}")
        return self._hints.cameras

    def _describe(self) -> DatasetInfo:
        warnings = [_FLANGE_WARNING]
        if not self._cameras and self._hints.cameras is None and any((self._folders[0] / "recordings").rglob("*.svo")):
            warnings.append(_SVO_WARNING)
        outcomes = {
            outcome: tuple(name for name in self.names if self._outcome(name) == outcome) for outcome in _OUTCOMES
        }
        if outcomes["failure"]:
            warnings.append(
                f"{len(outcomes['failure'])} episodes are failures: the filter key 'success' leaves them out"
            )
        return DatasetInfo(
            format="DROID",
            action_spec=self._hints.action_spec or ACTION_SPECS["droid"],
            cameras=self._cameras,
            object_position_source=self._object_key,
            filter_keys={outcome: names for outcome, names in outcomes.items() if names},
            warnings=tuple(warnings),
        )

    def _outcome(self, name: str) -> str | None:
        """What the innermost folder of such a name says."""
        return next((part for part in reversed([self._root.name, *name.split("/")]) if part in _OUTCOMES), None)

    def _object(self, recorded: dict[str, Array]) -> Array | None:
        key = self._object_key
        if key is None:
            return None
        array = recorded.get(key)
        if array is None or array.ndim != 2 or array.shape[1] < 3:
            fitting = [name for name, other in recorded.items() if other.ndim == 2 and other.shape[1] >= 3]
            raise DataError("no array with an object position", field=key, expected=f"one of {fitting}")
        return array[:, :3]
