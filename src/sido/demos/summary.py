"""What is in a dataset, and what is wrong with it: everything a person asks before training on it."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from sido.arrays import Array
from sido.demos.dataset import DemoDataset, Progress, unheard
from sido.demos.demo import Demo
from sido.demos.grasp import find_grasp
from sido.errors import DataError, SidoError

__all__ = ["DatasetSummary", "DemoSummary", "FieldStatistics", "summarise"]

_STILL_M = 0.005  # an object that moves more than this before the grasp was pushed, or was not static
_NUMBERS = ("actions", "eef_position", "eef_quat_wxyz", "gripper", "object_position")


@dataclass(frozen=True)
class FieldStatistics:
    """Per column over all steps of all demonstrations."""

    minimum: tuple[float, ...]
    maximum: tuple[float, ...]
    mean: tuple[float, ...]
    std: tuple[float, ...]


@dataclass(frozen=True)
class DemoSummary:
    """One demonstration in brief; the paths are what a picture of the dataset is drawn from."""

    name: str
    steps: int
    grasp_index: int | None
    grasp_source: str | None
    eligible: int
    eef_path: Float[Array, "T 3"]
    object_start: Float[Array, "3"] | None


@dataclass(frozen=True)
class DatasetSummary:
    """The whole in brief. `problems` name demonstrations that cannot be used as they are, one line each."""

    path: str
    format: str
    environment: str | None
    action_spec: dict[str, Any]
    cameras: Mapping[str, tuple[int, int]]
    filter_keys: Mapping[str, int]
    object_position_source: str | None
    prediction_horizon: int
    demos: tuple[DemoSummary, ...]
    statistics: Mapping[str, FieldStatistics]
    warnings: tuple[str, ...]
    problems: tuple[str, ...]

    @property
    def steps(self) -> int:
        return sum(demo.steps for demo in self.demos)

    @property
    def eligible(self) -> int:
        """How many transitions the augmentation may displace."""
        return sum(demo.eligible for demo in self.demos)

    @property
    def grasp_sources(self) -> Mapping[str, int]:
        """How many grasps were found in which way."""
        return collections.Counter(demo.grasp_source for demo in self.demos if demo.grasp_source)

    def to_dict(self) -> dict[str, Any]:
        """For `--json`: everything but the paths."""
        document = dataclasses.asdict(dataclasses.replace(self, demos=()))
        document["demos"] = [
            {"name": demo.name, "steps": demo.steps, "grasp_index": demo.grasp_index, "grasp_source": demo.grasp_source,
             "eligible": demo.eligible}
            for demo in self.demos
        ]  # fmt: skip
        return document | {
            "steps": self.steps,
            "eligible": self.eligible,
            "eligible_share": self.eligible / max(self.steps, 1),
            "grasp_sources": dict(self.grasp_sources),
        }


def summarise(
    dataset: DemoDataset,
    *,
    prediction_horizon: int = 16,
    progress: Progress = unheard,
) -> DatasetSummary:
    """Read every demonstration once. A bad one becomes a line in `problems`, and the rest is still summarised."""
    moments = _Moments()
    demos: list[DemoSummary] = []
    problems: list[str] = []
    pushed: list[str] = []
    cameras: dict[str, tuple[int, int]] = {}
    for demo in _readable(dataset, problems, progress):
        moments.add(demo)
        cameras |= {camera: frames.shape[1:3] for camera, frames in demo.images.items()}
        problems += _problems(dataset, demo, prediction_horizon)
        if _moved_before_grasp(demo):
            pushed.append(demo.name)
        demos.append(_brief(demo, prediction_horizon))
    info = dataset.info
    environment = info.environment and f"{info.environment.name} {info.environment.version}".strip()
    return DatasetSummary(
        path=str(dataset.path),
        format=info.format,
        environment=environment,
        action_spec=dataclasses.asdict(info.action_spec),
        cameras=cameras,
        filter_keys={key: len(names) for key, names in info.filter_keys.items()},
        object_position_source=info.object_position_source,
        prediction_horizon=prediction_horizon,
        demos=tuple(demos),
        statistics=moments.statistics(),
        warnings=(*info.warnings, *_pushed_warning(pushed)),
        problems=tuple(problems),
    )


def _readable(dataset: DemoDataset, problems: list[str], progress: Progress) -> Iterator[Demo]:
    for index in range(len(dataset)):
        try:
            demo = dataset[index]
        except SidoError as error:
            problems.append(str(error))
        else:
            yield demo
        progress(index + 1, len(dataset))


def _problems(dataset: DemoDataset, demo: Demo, prediction_horizon: int) -> Iterator[str]:
    if demo.grasp is None:
        try:
            find_grasp(demo)
        except DataError as error:
            yield str(error.at(file=dataset.path))
    elif not demo.eligible_steps(prediction_horizon).any():
        yield str(
            DataError(
                "no chunk fits before the grasp",
                file=dataset.path,
                demo=demo.name,
                field="grasp_index",
                found=f"grasp at step {demo.grasp.index}, window from step {demo.grasp.window_start}",
                expected=f"at least {prediction_horizon} steps in between",
                fix="leave it out, or choose a shorter prediction horizon",
            )
        )


def _moved_before_grasp(demo: Demo) -> bool:
    if demo.object_position is None or demo.grasp is None:
        return False
    before = demo.object_position[demo.grasp.window_start : demo.grasp.index + 1]
    return bool(np.linalg.norm(before - before[0], axis=1).max() > _STILL_M)


def _pushed_warning(pushed: list[str]) -> Iterator[str]:
    if pushed:
        shown = ", ".join(pushed[:3]) + (", ..." if len(pushed) > 3 else "")
        yield (
            f"the object moves more than {_STILL_M * 1000:g} mm before the grasp in {len(pushed)} demonstrations "
            f"({shown}): sido takes demonstrations to be static until then"
        )


def _brief(demo: Demo, prediction_horizon: int) -> DemoSummary:
    return DemoSummary(
        name=demo.name,
        steps=len(demo),
        grasp_index=None if demo.grasp is None else demo.grasp.index,
        grasp_source=None if demo.grasp is None else demo.grasp.source,
        eligible=int(demo.eligible_steps(prediction_horizon).sum()),
        eef_path=demo.eef_position,
        object_start=None if demo.object_position is None else demo.object_position[0],
    )


class _Moments:
    """Statistics in one pass, demonstration by demonstration (Chan's merge of means and squared deviations)."""

    def __init__(self) -> None:
        self._count: dict[str, int] = {}
        self._state: dict[str, tuple[Array, Array, Array, Array]] = {}

    def add(self, demo: Demo) -> None:
        for name in _NUMBERS:
            values: Array | None = getattr(demo, name)
            if values is None or (name in self._state and values.shape[1] != len(self._state[name][0])):
                continue
            mean = values.mean(0)
            new = (values.min(0), values.max(0), mean, ((values - mean) ** 2).sum(0))
            count = len(values)
            if name in self._state:
                low, high, old_mean, old_squares = self._state[name]
                old_count = self._count[name]
                total = old_count + count
                shift = new[2] - old_mean
                new = (
                    np.minimum(low, new[0]),
                    np.maximum(high, new[1]),
                    old_mean + shift * count / total,
                    old_squares + new[3] + shift**2 * old_count * count / total,
                )
                count = total
            self._count[name], self._state[name] = count, new

    def statistics(self) -> dict[str, FieldStatistics]:
        return {
            name: FieldStatistics(
                tuple(low.tolist()),
                tuple(high.tolist()),
                tuple(mean.tolist()),
                tuple(np.sqrt(squares / self._count[name]).tolist()),
            )
            for name, (low, high, mean, squares) in self._state.items()
        }
