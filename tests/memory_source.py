"""A dataset in memory: what tests of everything above the formats read from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sido.demos import DatasetInfo, Demo, DemoDataset
from sido.demos.synthetic import reach_and_lift


class MemorySource:
    def __init__(self, demos: Sequence[Demo], **info: Any) -> None:
        self._demos = demos
        self.info = DatasetInfo(
            "memory",
            demos[0].action_spec,
            cameras=tuple(demos[0].images),
            object_position_source=None if demos[0].object_position is None else "made up",
            **info,
        )
        self.names = tuple(demo.name for demo in demos)

    def length(self, index: int) -> int:
        return len(self._demos[index])

    def read(self, index: int) -> Demo:
        return self._demos[index]

    def close(self) -> None:
        pass


def memory_dataset(demos: Sequence[Demo], path: Path = Path("memory"), **info: Any) -> DemoDataset:
    return DemoDataset(MemorySource(demos, **info), path)


def synthetic_demos(count: int, seed: int = 0, **options: Any) -> list[Demo]:
    """Demonstrations of different lengths, grasped at different steps."""
    rng = np.random.default_rng(seed)
    return [
        reach_and_lift(rng, name=f"demo_{index}", steps=60 + 7 * index % 30, grasp_step=34 + 3 * index % 10, **options)
        for index in range(count)
    ]
