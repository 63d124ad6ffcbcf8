"""Chunks generated for a whole dataset, in a folder: written once, demonstration by demonstration, and drawn from.

| in the folder | what |
|---|---|
| `cache.json` | what the chunks are of (`key`), and which rows are whose |
| `chunks.f32` | one row for each eligible chunk and displacement: delta 3, positions `3 T_p`, costs 2, reach |
| `done.u8` | one byte for each demonstration: 1 once its rows are written |
| `dynamics/` | the model that they were refined under |
"""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
import torch

from sido.arrays import Array
from sido.atomic import atomic_path
from sido.augment.dynamics.disk import load_dynamics, save_dynamics
from sido.augment.dynamics.model import DynamicsModel
from sido.augment.generate import Generated, GenerationSettings, eligible_range, generate
from sido.augment.one_thread import one_thread
from sido.demos.action_spec import ActionSpec
from sido.demos.dataset import DemoDataset
from sido.demos.demo import Demo
from sido.demos.json_document import JsonNode, parse_json
from sido.errors import DataError, SettingError
from sido.release import versions

__all__ = ["ChunkCache", "DemoRows", "actions_digest", "generate_cache", "plan_cache"]

_DOCUMENT, _CHUNKS, _DONE, DYNAMICS = "cache.json", "chunks.f32", "done.u8", "dynamics"
_FORMAT = 1


@final
@dataclass(frozen=True)
class DemoRows:
    """Where a demonstration's chunks are."""

    name: str
    length: int
    """Control steps."""
    actions: str
    """Digest of its actions, in single precision: training looks whether it has the same demonstration."""
    first_step: int
    """The first that is eligible; those that follow are, too."""
    count: int
    row: int
    """Of `first_step`; in chunks."""


@final
@dataclass(frozen=True, eq=False)
class ChunkCache:
    """A cache, complete or not; arrays are mapped, not read."""

    folder: Path
    key: dict[str, Any]
    demos: tuple[DemoRows, ...]
    action_spec: ActionSpec
    chunks: Array
    """`[rows, D, 3 + 3 H + 3]`."""
    done: Array

    @classmethod
    def open(cls, folder: Path, *, writable: bool = False) -> ChunkCache:
        """Raises:
        DataError: it is no cache, or one whose files are damaged.
        """  # noqa: D205
        file = folder / _DOCUMENT
        try:
            node = parse_json(file.read_bytes(), place=str(file))
            if node["sido_chunk_cache"].whole() != _FORMAT:
                raise node["sido_chunk_cache"].wrong(f"{_FORMAT}, the version of this sido")
            demos = tuple(_demo_rows(entry) for entry in node["demos"].each())
            key: dict[str, Any] = node["key"].value
            shape = tuple(entry.whole(at_least=1) for entry in node["shape"].each())
            mode = "r+" if writable else "r"
            chunks = np.memmap(folder / _CHUNKS, np.float32, mode, shape=shape)
            done = np.memmap(folder / _DONE, np.uint8, mode, shape=(len(demos),))
            spec = ActionSpec.from_json_node(node["action_spec"])
        except (OSError, ValueError) as error:
            raise DataError(
                "no cache of chunks",
                file=folder,
                found=error,
                expected="a folder that `sido augment --generator` wrote",
                fix="generate it (again)",
            ) from error
        return cls(folder, key, demos, spec, chunks, done)

    @property
    def digest(self) -> str:
        """Of all that the chunks depend on."""
        return hashlib.sha256(json.dumps(self.key, sort_keys=True).encode()).hexdigest()

    @property
    def complete(self) -> bool:
        return bool(np.all(self.done == 1))

    @property
    def displacement(self) -> Array:
        return self.chunks[..., :3]

    @property
    def positions(self) -> Array:
        """Position commands `[rows, D, H, 3]`, in the units of the actions."""
        return self.chunks[..., 3:-3].reshape(*self.chunks.shape[:2], -1, 3)

    @property
    def costs(self) -> tuple[Array, Array]:
        """The seeds', and the chunks', m^2."""
        return self.chunks[..., -3], self.chunks[..., -2]

    @property
    def reach_m(self) -> float:
        """How much wider than the demonstrations, in x and y, positions and position commands are, at most."""
        return float(max(self.chunks[..., -1].max(), np.abs(self.displacement).max()))

    def model(self) -> DynamicsModel:
        """The one that the chunks were refined under."""
        return load_dynamics(self.folder / DYNAMICS)


def actions_digest(actions: Array) -> str:
    """Of a demonstration's actions, whatever precision they are held in."""
    return hashlib.sha256(np.ascontiguousarray(actions, dtype=np.float32).tobytes()).hexdigest()


def plan_cache(
    dataset: DemoDataset,
    folder: Path,
    model: DynamicsModel,
    settings: GenerationSettings,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> ChunkCache:
    """The cache to be filled: a new one, or the one that is there, if it is of the same.

    Raises:
        DataError: no chunk of the dataset is eligible.
        SettingError: the folder holds chunks of something else.
    """
    horizon = settings.counterfactual.prediction_horizon
    demos, row, data, first = [], 0, hashlib.sha256(), None
    for demo in dataset.each(progress):
        first = first or demo
        first.action_spec.require_same(demo.action_spec, here=first.name, there=demo.name)
        start, count = eligible_range(demo, horizon)
        demos.append(DemoRows(demo.name, len(demo), actions_digest(demo.actions), start, count, row))
        row += count
        _digest(demo, data)
    assert first is not None  # a dataset has at least one demonstration
    if row == 0:
        raise DataError(
            "no chunk ends before a grasp, so that none can be displaced",
            file=dataset.path,
            field="grasp",
            expected=f"demonstrations whose grasp is known and comes after {horizon} steps or more",
            fix="see `sido inspect` for the grasp indices, or choose a shorter prediction horizon",
        )
    key = {
        "data": data.hexdigest(),
        "settings": settings.to_dict(),
        "dynamics": model.digest,
        "versions": {name: told for name, told in versions(("torch", "numpy")).items() if name != "commit"},
    }
    if folder.exists():
        found = ChunkCache.open(folder, writable=True)
        _require_same_key(found, key)
        return found
    shape = (row, settings.displacements, 3 + 3 * horizon + 3)
    with atomic_path(folder) as partial:
        partial.mkdir()
        document = {
            "sido_chunk_cache": _FORMAT,
            "key": key,
            "action_spec": json.loads(first.action_spec.to_json()),
            "shape": shape,
            "demos": [vars(rows) for rows in demos],
        }
        (partial / _DOCUMENT).write_text(json.dumps(document, indent=1))
        save_dynamics(model, partial / DYNAMICS)
        for name, size in ((_CHUNKS, 4 * int(np.prod(shape))), (_DONE, len(demos))):
            with (partial / name).open("wb") as file:
                file.truncate(size)
    return ChunkCache.open(folder, writable=True)


def generate_cache(
    dataset: DemoDataset,
    cache: ChunkCache,
    model: DynamicsModel,
    settings: GenerationSettings,
    *,
    threads: int = 1,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> None:
    """Fill what is missing of a cache, killed as often as may be: the bytes are the same in the end.

    Args:
        dataset: The one that it was planned for.
        cache: Of `plan_cache`.
        model: The same as then.
        settings: The same as then.
        threads: How many demonstrations are worked on at a time; memory is theirs.
        progress: Called with how many demonstrations are done, and of how many.
    """
    missing = deque(np.flatnonzero(cache.done == 0).tolist())
    total = len(cache.demos)

    def keep(number: int, made: Generated) -> None:
        _write(cache, number, made)
        progress(int(cache.done.sum()), total)

    progress(total - len(missing), total)
    # A new thread begins with as many as the machine has, whatever the others are told: it is told, too.
    workers = ThreadPoolExecutor(threads, "chunks", initializer=torch.set_num_threads, initargs=(1,))
    with one_thread(), workers as pool:
        waiting: deque[tuple[int, Future[Generated]]] = deque()
        for number in missing:
            waiting.append((number, pool.submit(generate, dataset[number], number, model, settings)))
            if len(waiting) == 2 * threads:
                done, future = waiting.popleft()
                keep(done, future.result())
        for done, future in waiting:
            keep(done, future.result())


def _write(cache: ChunkCache, number: int, made: Generated) -> None:
    rows = cache.demos[number]
    if rows.count:
        numbers = torch.stack([made.seed_cost, made.cost, made.reach_m], dim=2)
        row = torch.cat([made.displacement, made.positions.flatten(2), numbers], dim=2)
        cache.chunks[rows.row : rows.row + rows.count] = row.numpy()
        _flush(cache.chunks)
    cache.done[number] = 1  # only now: a byte says that the rows are there
    _flush(cache.done)


def _flush(array: Array) -> None:
    assert isinstance(array, np.memmap)
    array.flush()


def _digest(demo: Demo, digest: Any) -> None:
    grasp = demo.grasp
    digest.update(repr((demo.name, demo.action_spec, grasp and (grasp.index, grasp.window_start))).encode())
    for array in (demo.eef_position, demo.eef_quat_wxyz, demo.gripper, demo.actions):
        digest.update(repr(array.shape).encode())
        digest.update(np.ascontiguousarray(array).tobytes())


def _require_same_key(cache: ChunkCache, key: dict[str, Any]) -> None:
    wanted: dict[str, Any] = json.loads(json.dumps(key))
    differing = [name for name in wanted if cache.key.get(name) != wanted[name]]
    if differing:
        raise SettingError(
            "the folder holds chunks that were generated from something else",
            file=cache.folder,
            field=", ".join(differing),
            found=", ".join(f"{name}: {_brief(cache.key.get(name))}" for name in differing),
            expected=", ".join(f"{name}: {_brief(wanted[name])}" for name in differing),
            fix="choose another folder, or remove this one",
        )


def _brief(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 400 else f"{text[:400]}..."


def _demo_rows(node: JsonNode) -> DemoRows:
    return DemoRows(
        name=node["name"].text(),
        length=node["length"].whole(at_least=1),
        actions=node["actions"].text(),
        first_step=node["first_step"].whole(at_least=0),
        count=node["count"].whole(at_least=0),
        row=node["row"].whole(at_least=0),
    )
