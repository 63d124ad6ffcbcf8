"""Wrist views in the policy's own image encoder, as t-SNE puts them into a plane: do rollouts see what was trained on?

Each method has its own encoder, so each has its own map: the views of the static demonstrations before the grasp, and
those of its rollouts. A map is for looking. The number beside it is measured in the encoder's features: how far a
rollout's view is from the nearest view of a demonstration, over how far one of a demonstration is from the nearest one
of another demonstration; medians. 1 is within what was trained on.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np
import torch
from jaxtyping import Float, Int, UInt8

from sido.arrays import Array
from sido.errors import MissingExtraError, SettingError
from sido.evaluate import RunPolicy, Setting, cell_of
from sido.experiments.exhibit import Figure, Place, Shown, Task, Told
from sido.experiments.exhibits.wrist_views import SeenRollouts, Views, joined, keep_views, read_views
from sido.experiments.experiment import Experiment, Method, Scale, World
from sido.experiments.pieces import Demonstrations, run_piece
from sido.experiments.plots import COLOURS, Cloud, scatter
from sido.policies import Policy
from sido.policies.diffusion_policy import DiffusionPolicy
from sido.sim.collect import WRIST_CAMERA
from sido.train import DataConfig
from sido.train.data import open_demos

if TYPE_CHECKING:
    from sido.experiments.table import Table
    from sido.jobs import Crew

__all__ = ["WristViews"]

_ROLLOUTS = 20
_ROLLOUT_S = 2.0
_EVERY = 8
"""Control steps from one view of a demonstration to the next, as a policy that plans every T_a steps sees them."""
_DEMOS = 40
_BATCH = 64


class _Cell(NamedTuple):
    method: Method
    source: RunPolicy
    setting: Setting
    file: Path
    """Of its views; its name hangs on all that decides them."""


@final
@dataclass(frozen=True)
class WristViews:
    """Of the first training seed's policies in a world."""

    world: World

    def missing(self, place: Place) -> float:
        if any(not run_piece(place.experiment, method, self.world.task, place.scale, 0).ended(place.folder)
               for method in place.experiment.methods):  # fmt: skip
            return _ROLLOUT_S * len(place.experiment.methods) * min(_ROLLOUTS, place.scale.rollouts)
        left = [cell for cell in self._cells(place.experiment, place.scale, place.folder) if not cell.file.exists()]
        return _ROLLOUT_S * len(left) * min(_ROLLOUTS, place.scale.rollouts)

    def make(self, place: Place, crew: Crew, told: Told) -> None:
        seeds = list(place.scale.seeds)[:_ROLLOUTS]
        cells = self._cells(place.experiment, place.scale, place.folder)
        for number, cell in enumerate(cells):
            if cell.file.exists():
                continue
            found: dict[int, Views] = {}
            run = crew.run(SeenRollouts(cell.source, cell.setting), iter(seeds))
            try:
                for index, views in run:
                    found[index] = views
                    done = number * len(seeds) + len(found)
                    work = {"exhibit": _ROLLOUT_S * done}
                    told(Task("looking through the wrist", done, len(cells) * len(seeds), cell.method.name, work))
            finally:
                run.close()
            keep_views(cell.file, joined([found[index] for index in sorted(found)]))

    def shown(self, table: Table, folder: Path) -> Shown:
        rows: list[tuple[str, ...]] = []
        numbers: list[dict[str, Any]] = []
        maps: list[Figure] = []
        attempts: list[Figure] = []
        static: Views | None = None
        for number, cell in enumerate(self._cells(table.experiment, table.scale, folder)):
            if static is None:
                static = _demonstrated(self._data(table.experiment, table.scale), folder)
                attempts.append(_picture(static, "a static demonstration"))
            views = read_views(cell.file)
            features = [_encoded(cell.source(), each.images) for each in (static, views)]
            apart = _apart(features[0], static.seeds, features[1])
            points = len(views.images)
            rows.append((cell.method.name, f"{apart:.2f}", str(points), str(len(static.images))))
            numbers.append({"method": cell.method.name, "distance_ratio": apart, "views": points})
            drawn = _drawn(features, views, f"c{number % COLOURS}", cell.method.name)
            maps.append(
                Figure(drawn, f"{cell.method.name}: {apart:.2f} times as far as demonstrations from each other")
            )
            attempts.append(_picture(views, cell.method.name))
        return Shown(
            title=f"What the wrist camera sees, {self.world.name}",
            columns=("method", "distance ratio", "views", "of demonstrations"),
            rows=tuple(rows),
            note="t-SNE of the features of the policy's own encoder of the wrist camera, before the grasp: grey static "
            "demonstrations, coloured rollouts, squares the moment of the first attempt. Distance ratio: median "
            "distance of a rollout's view from the nearest demonstrated one, over that of a demonstration's from the "
            "nearest of another demonstration; 1 is within what was trained on. Below: the view when the gripper "
            "was first told to close, of the same episode.",
            figures=(*maps, *attempts),
            numbers=numbers,
        )

    def _cells(self, experiment: Experiment, scale: Scale, folder: Path) -> list[_Cell]:
        cells: list[_Cell] = []
        seeds = f"{min(_ROLLOUTS, scale.rollouts)}-{scale.seeds.start}"
        for method in experiment.methods:
            run = run_piece(experiment, method, self.world.task, scale, 0).path(folder)
            setting, source = method.setting(self.world, folder, scale.longest_s), RunPolicy(run)
            name = f"{run.name}-{cell_of(run, source, setting).folder.name}-{seeds}.npz"
            cells.append(_Cell(method, source, setting, folder / "exhibits" / "views" / name))
        return cells

    def _data(self, experiment: Experiment, scale: Scale) -> Demonstrations:
        return run_piece(experiment, experiment.methods[0], self.world.task, scale, 0).demonstrations


def _demonstrated(data: Demonstrations, folder: Path) -> Views:
    """Views before the grasp, and at it."""
    images: list[Array] = []
    seeds: list[int] = []
    closing: list[bool] = []
    with open_demos(DataConfig(path=str(data.path(folder))), (WRIST_CAMERA,)) as dataset:
        for number, demo in enumerate(dataset[:_DEMOS]):
            if demo.grasp is None:
                continue
            for step in [*range(0, demo.grasp.index, _EVERY), demo.grasp.index]:
                images.append(np.asarray(demo.images[WRIST_CAMERA][step]))
                seeds.append(number)
                closing.append(step == demo.grasp.index)
    return Views(np.stack(images), np.array(seeds), np.array(closing))


def _encoded(policy: Policy, images: UInt8[Array, "n h w 3"]) -> Float[Array, "n F"]:
    """The wrist camera's features in the policy's encoder; other cameras' are left out."""
    if not isinstance(policy, DiffusionPolicy) or policy.encoder is None:
        raise SettingError("only the encoder of a diffusion policy that has cameras can be looked into")
    encoder, cameras = policy.encoder.eval(), policy.encoder.cameras
    each = encoder.features // len(cameras)
    begin = cameras.index(WRIST_CAMERA) * each
    sizes = {camera.name: (camera.height, camera.width) for camera in policy.config.observation.cameras}
    parts: list[Array] = []
    with torch.no_grad():
        for first in range(0, len(images), _BATCH):
            seen = torch.from_numpy(images[first : first + _BATCH])[:, None]
            shown = {name: torch.zeros(len(seen), 1, *size, 3, dtype=torch.uint8) for name, size in sizes.items()}
            parts.append(encoder({**shown, WRIST_CAMERA: seen}, None)[:, 0, begin : begin + each].float().numpy())
    return np.concatenate(parts)


def _apart(demos: Float[Array, "n F"], whose: Int[Array, " n"], rollouts: Float[Array, "m F"]) -> float:
    """The distance ratio."""
    among = np.linalg.norm(demos[:, None] - demos[None], axis=2)
    among[whose[:, None] == whose[None]] = np.inf
    nearest = np.median(among.min(axis=1))
    far = np.median(np.linalg.norm(rollouts[:, None] - demos[None], axis=2).min(axis=1))
    return float(far / nearest) if np.isfinite(nearest) and nearest > 0.0 else float("nan")


def _drawn(features: list[Float[Array, "_ F"]], views: Views, colour: str, name: str) -> str:
    try:
        from sklearn.manifold import TSNE
    except ModuleNotFoundError as error:
        raise MissingExtraError("t-SNE", str(error.name), "report") from error
    everything = np.concatenate(features).astype(np.float64)
    everything -= everything.mean(axis=0)
    perplexity = min(30.0, (len(everything) - 1) / 3.0)
    plane = TSNE(perplexity=perplexity, init="pca", random_state=0, n_jobs=1).fit_transform(everything)
    plane = (plane - plane.mean(axis=0)) / plane.std()
    demos, played = plane[: len(features[0])], plane[len(features[0]) :]
    clouds = [
        Cloud("demonstrations", "rest", _points(demos)),
        Cloud(name, colour, _points(played[~views.closing])),
        Cloud("attempts", colour, _points(played[views.closing]), square=True),
    ]
    return scatter(clouds, x="", y="", label=f"wrist views of {name}", bare=True)


def _points(plane: Float[Array, "n 2"]) -> tuple[tuple[float, float], ...]:
    return tuple((float(x), float(y)) for x, y in plane)


def _picture(views: Views, name: str) -> Figure:
    """The view at the first attempt that there is; without one, the last view of the first episode."""
    from sido.demos.lerobot.cameras import encode_png

    attempts = np.flatnonzero(views.closing)
    row = int(attempts[0]) if len(attempts) else int(np.flatnonzero(views.seeds == views.seeds[0])[-1])
    told = "" if len(attempts) else " (never tried to grasp)"
    data = base64.b64encode(encode_png(views.images[row])).decode()
    return Figure(
        f'<img class="view" alt="wrist view of {name}" src="data:image/png;base64,{data}">', f"{name}{told}", small=True
    )
