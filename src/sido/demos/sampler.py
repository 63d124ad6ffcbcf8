"""Training batches, gathered from memory: every number of every demonstration in two tables, one gather a batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int64
from torch import Tensor

from sido.arrays import Array
from sido.demos.chunks import ChunkBatch
from sido.demos.dataset import DemoDataset, Progress, unheard
from sido.demos.demo import Demo
from sido.demos.frame_store import FrameStore
from sido.demos.source import own_base
from sido.errors import DataError, SettingError
from sido.geometry import Pose, matrix_from_quat, rot6d_from_matrix

__all__ = ["ChunkSampler", "ChunkWindow"]

_OBJECT_POSES = "datagen_info/object_poses/"  # where a demonstration's records have them: [T, 4, 4], world frame


def _require_at_least(least: int, found: int, name: str) -> None:
    if found < least:
        raise SettingError("too small", field=name, found=found, expected=f"at least {least}")


@dataclass(frozen=True)
class ChunkWindow:
    """Which steps a sample spans, and how far it may hang over the end of a demonstration.

    With `observation_steps` 2 a sample at `t` sees `t-1` and `t`, and its chunk is `t .. t+H-1` (docs/conventions.md).
    """

    prediction_horizon: int = 16
    observation_steps: int = 2
    pad_after: int = 7
    """At most so many actions of a chunk are repeats of the last one: `T_a - 1`, as diffusion_policy has it."""

    def __post_init__(self) -> None:
        for name, least in (("prediction_horizon", 1), ("observation_steps", 1), ("pad_after", 0)):
            steps: object = getattr(self, name)
            if not isinstance(steps, int):
                raise SettingError("not a whole number", field=name, found=repr(steps), expected="a number of steps")
            _require_at_least(least, steps, name)
        if self.pad_after >= self.prediction_horizon:
            raise SettingError(
                "a chunk of nothing but padding",
                field="pad_after",
                found=self.pad_after,
                expected=f"under the prediction horizon, {self.prediction_horizon}",
            )


class ChunkSampler:
    """All transitions of a dataset, as batches.

    Low-dimensional data are held whole in memory, so that a batch costs two gathers whatever its size, with no Python
    loop over samples. Images, if any, come from a `FrameStore` on disk.

    ```python
    sampler = ChunkSampler(dataset)
    batch = sampler.sample(256, torch.Generator().manual_seed(0))
    ```
    """

    def __init__(
        self,
        dataset: DemoDataset,
        window: ChunkWindow = ChunkWindow(),
        *,
        frames: FrameStore | None = None,
        landmarks: Sequence[str] = (),
        dtype: torch.dtype = torch.float32,
        progress: Progress = unheard,
    ) -> None:
        """Read all numbers of `dataset`.

        `landmarks` names further objects whose positions a policy may see ("cubeB"), of those whose poses the dataset
        has as MimicGen annotates them; batches have them under "landmark.<name>".
        """
        if not dtype.is_floating_point:
            raise SettingError("not a floating-point type", field="dtype", found=dtype, expected="torch.float32, say")
        self.window = window
        self.frames = frames
        # Only the columns that batches need are kept of each demonstration: memory is that of the tables.
        lengths = torch.from_numpy(dataset.lengths)
        self._first = torch.cumsum(lengths, 0) - lengths  # row of each demonstration's first step in the tables
        names: list[str] = []
        first: Demo | None = None
        for number, demo in enumerate(dataset.each(progress)):
            parts = _observed(demo, dataset.path) | _landmarks(demo, landmarks, dataset)
            if first is None:
                first, rows = demo, int(lengths.sum())
                self._columns = _columns(parts)
                width = sum(array.shape[1] for array in parts.values())
                self._observed = torch.empty(rows, width, dtype=dtype)
                self._actions = torch.empty(rows, demo.action_spec.dim, dtype=dtype)
                self._eligible, self._held = (torch.empty(rows, dtype=torch.bool) for _ in range(2))
            _require_usable(demo, first, window, dataset.path)
            names.append(demo.name)
            at = slice(int(self._first[number]), int(self._first[number]) + len(demo))
            self._observed[at] = torch.from_numpy(np.concatenate(list(parts.values()), axis=1))
            self._actions[at] = torch.tensor(demo.actions)
            self._eligible[at] = torch.from_numpy(demo.eligible_steps(window.prediction_horizon))
            self._held[at] = torch.from_numpy(demo.held_steps())
        assert first is not None  # a dataset has at least one demonstration
        self.action_spec = first.action_spec
        self._last = self._first + lengths - 1
        # Where a demonstration's images lie in the store, which may hold more demonstrations than this sampler.
        stored = [frames.first_row(name) if frames else 0 for name in names]
        self._image_shift = torch.tensor(stored) - self._first
        # One entry a transition: its demonstration, and its row in the tables.
        starts = (lengths - window.prediction_horizon + window.pad_after + 1).clamp(min=0)
        self._demo = torch.repeat_interleave(torch.arange(len(names)), starts)
        offset = torch.arange(len(self._demo)) - (torch.cumsum(starts, 0) - starts)[self._demo]
        self._row = self._first[self._demo] + offset
        self._ahead = torch.arange(window.prediction_horizon)
        self._behind = torch.arange(1 - window.observation_steps, 1)

    def __len__(self) -> int:
        """How many transitions there are."""
        return len(self._demo)

    @property
    def numbers(self) -> Mapping[str, Float[Tensor, "steps n"]]:
        """Every number that batches are gathered from, by name ("actions", too), one row for each recorded step."""
        observed = {name: self._observed[:, columns] for name, columns in self._columns.items()}
        return observed | {"actions": self._actions}

    @property
    def eligible_share(self) -> float:
        """The share of transitions that augmentation may displace."""
        return float(self._eligible[self._row].double().mean())

    def sample(self, batch_size: int, generator: torch.Generator) -> ChunkBatch:
        """Transitions drawn with replacement."""
        _require_at_least(0, batch_size, "batch_size")
        return self.batch(torch.randint(len(self), (batch_size,), generator=generator))

    def epoch(self, batch_size: int, generator: torch.Generator, *, drop_last: bool = False) -> Iterator[ChunkBatch]:
        """Every transition once, in random order; `drop_last` leaves a last, smaller batch out."""
        _require_at_least(1, batch_size, "batch_size")
        order = torch.randperm(len(self), generator=generator)
        batches = order.split(batch_size)
        yield from (self.batch(rows) for rows in batches if not drop_last or len(rows) == batch_size)

    def batch(self, transitions: Int64[Tensor, " B"], *, images: bool = True) -> ChunkBatch:
        """The given transitions, numbered from 0 to `len(self) - 1` through all demonstrations.

        `images` False leaves the images out.
        """
        outside = transitions[(transitions < 0) | (transitions >= len(self))]
        if len(outside):
            raise SettingError("no such transition", found=int(outside[0]), expected=f"0 to {len(self) - 1}")
        demo, row = self._demo[transitions], self._row[transitions]
        first, last = self._first[demo], self._last[demo]
        ahead = row[:, None] + self._ahead
        behind = row[:, None] + self._behind
        seen = torch.maximum(behind, first[:, None])
        observed = _gather(self._observed, seen)
        observations = {name: observed[..., columns] for name, columns in self._columns.items()}
        object_position = observations.pop("object_position")
        if self.frames is not None and images:
            rows = (seen + self._image_shift[demo][:, None]).numpy()
            for camera in self.frames.cameras:
                observations[f"image.{camera}"] = torch.from_numpy(self.frames.read(camera, rows))
        return ChunkBatch(
            observations=observations,
            object_position=object_position,
            actions=_gather(self._actions, torch.minimum(ahead, last[:, None])),
            observation_is_pad=behind < first[:, None],
            action_is_pad=ahead > last[:, None],
            eligible=self._eligible[row],
            held=self._held[row],
            displacement=torch.zeros(len(row), 3, dtype=self._actions.dtype),
            demo_index=demo,
            step=row - first,
            action_spec=self.action_spec,
        )


def _require_usable(demo: Demo, first: Demo, window: ChunkWindow, path: Path) -> None:
    horizon, padding = window.prediction_horizon, window.pad_after
    shortest = horizon - padding
    if len(demo) < shortest:
        raise DataError(
            "the demonstration is shorter than a chunk",
            file=path,
            demo=demo.name,
            found=f"{len(demo)} steps",
            expected=f"at least {shortest} (chunks of {horizon} less {padding} of padding)",
            fix="leave it out, or choose a shorter prediction horizon",
        )
    if demo.gripper.shape[1] != first.gripper.shape[1]:
        raise DataError(
            "grippers differ",
            file=path,
            demo=demo.name,
            field="gripper",
            found=f"{demo.gripper.shape[1]} joints",
            expected=f"{first.gripper.shape[1]}, as in {first.name}",
        )
    try:
        first.action_spec.require_same(demo.action_spec, here=first.name, there=demo.name)
    except DataError as error:
        raise error.at(file=path) from None


def _observed(demo: Demo, path: Path) -> dict[str, Array]:
    """What a policy may see besides images, by name: `[T, n]` each."""
    if demo.object_position is None:
        raise DataError(
            "neither an object position nor a grasp to take it from",
            file=path,
            demo=demo.name,
            field="object_position",
            fix="name the array that holds it with --object-key, or leave the demonstration out",
        )
    return {
        "eef_position": demo.eef_position,
        "eef_rot6d": rot6d_from_matrix(matrix_from_quat(demo.eef_quat_wxyz)),
        "gripper": demo.gripper,
        "object_position": demo.object_position,
    }


def _landmarks(demo: Demo, names: Sequence[str], dataset: DemoDataset) -> dict[str, Array]:
    """Positions of further objects in the base frame, `[T, 3]` each; they are recorded as matrices in the world's."""
    world_from_base = own_base(demo.metadata) or dataset.info.world_from_base or Pose.identity()
    base_from_world = world_from_base.inverse()
    positions: dict[str, Array] = {}
    for name in names:
        path = f"datagen_info/object_poses/{name}"
        if path not in demo.recorded:
            known = sorted(
                key.rsplit("/", 1)[1] for key in demo.recorded if key.startswith("datagen_info/object_poses/")
            )
            raise DataError(
                "no such object's poses", file=dataset.path, demo=demo.name, field="landmarks", found=repr(name),
                expected=f"one of {known}" if known else f"a dataset with {_OBJECT_POSES}",
            )  # fmt: skip
        places = _places(demo.recorded[path], file=dataset.path, demo=demo.name, field=path)
        positions[f"landmark.{name}"] = base_from_world.apply(places)
    return positions


def _places(poses: Array, **where: Any) -> Float[Array, "T 3"]:
    """The positions in recorded matrices, in the file's frame, float64."""
    if poses.shape[1:] != (4, 4) or poses.dtype.kind not in "fiu":
        raise DataError(
            "wrong shape", found=f"{poses.dtype}{list(poses.shape)}", expected="numbers [T, 4, 4]",
            fix="leave the landmark out", **where,
        )  # fmt: skip
    places = poses[:, :3, 3].astype(np.float64)
    bad = np.flatnonzero(~np.isfinite(places).all(1))
    if len(bad):
        raise DataError(
            "not a finite number", found=f"{places[bad[0]].tolist()} at step {bad[0]}", expected="finite numbers",
            fix="delete the demonstration, or record it again", **where,
        )  # fmt: skip
    return places


def _columns(parts: dict[str, Array]) -> dict[str, slice]:
    ends = np.cumsum([array.shape[1] for array in parts.values()]).tolist()
    return {name: slice(end - array.shape[1], end) for (name, array), end in zip(parts.items(), ends, strict=True)}


def _gather(table: Float[Tensor, "rows columns"], rows: Int64[Tensor, "B steps"]) -> Float[Tensor, "B steps columns"]:
    # index_select over flat rows is several times as fast as indexing with a matrix of rows.
    return table.index_select(0, rows.reshape(-1)).view(*rows.shape, table.shape[1])
