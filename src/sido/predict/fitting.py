"""Teaching the learned predictors. With torch, which `import sido.predict` does not load."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, final

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from sido.arrays import Array
from sido.errors import SettingError
from sido.motion.settings import require_above
from sido.predict.fernn import FERNN
from sido.predict.mlp import MLP
from sido.predict.network import POSITION_UNIT_M, SPEED_UNIT_MPS, TIME_UNIT_S, NetworkInputs
from sido.predict.questions import Augmentation, Questions
from sido.predict.track import Track
from sido.predict.watching import Question

__all__ = ["USUAL_STEPS", "FitSettings", "Fitted", "Shown", "fit", "forward"]

USUAL_STEPS = {"mlp": 3000, "fernn": 1200}
"""Under a minute on two cores."""

_WARM_UP = 0.05
_MEMORY = 0.7


@final
@dataclass(frozen=True)
class FitSettings:
    """How a predictor is taught."""

    network: Literal["mlp", "fernn"] = "fernn"
    observations: int = 8
    rate_hz: float = 20.0
    """Of the looks at the object."""
    horizon_s: float = 0.8
    """`T_p`."""
    augmentation: Augmentation = field(default_factory=Augmentation)
    span_mps: float = 0.06
    """FERNN's fastest hypotheses; half as much again as the fastest object, or more."""
    steps: int = 1200
    batch: int = 256
    learning_rate: float = 5e-3
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("rate_hz", "horizon_s", "span_mps", "learning_rate"):
            require_above(0.0, getattr(self, name), f"FitSettings.{name}")
        for name, least in (("observations", 2), ("steps", 1), ("batch", 1)):
            if getattr(self, name) < least:
                raise SettingError(
                    "too few", field=f"FitSettings.{name}", found=getattr(self, name), expected=f"{least} or more"
                )


class Fitted(NamedTuple):
    """What came of it."""

    predictor: MLP | FERNN
    losses_cm: Float[Array, " steps"]
    """The mean distance from the truth, of each batch."""
    seconds: float


class Shown(NamedTuple):
    """`NetworkInputs` as tensors."""

    positions: Tensor
    velocities: Tensor
    times: Tensor
    steps: Tensor
    seen: Tensor
    lead: Tensor

    @staticmethod
    def of(inputs: NetworkInputs) -> Shown:
        return Shown(*(torch.from_numpy(array) for array in inputs))


def fit(
    tracks: Sequence[Track], settings: FitSettings | None = None, progress: Callable[[int, int], None] | None = None
) -> Fitted:
    """Teach a network on tracks: AdamW on the mean distance between forecast and truth.

    The same seed and tracks give the same network, on the same machine.
    """
    settings = settings or FitSettings()
    begun = time.monotonic()
    questions = Questions(
        tracks,
        rate_hz=settings.rate_hz,
        horizon_s=settings.horizon_s,
        observations=settings.observations,
        augmentation=settings.augmentation,
    )
    rng = np.random.default_rng(settings.seed)
    empty = _predictor(settings)
    weights = _begin({name: array.shape for name, array in empty.weights.items()}, settings.seed)
    optimiser = torch.optim.AdamW(weights.values(), lr=settings.learning_rate, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, settings.learning_rate, total_steps=settings.steps + 1, pct_start=_WARM_UP
    )
    losses = np.zeros(settings.steps)
    for step in range(settings.steps):
        asked = questions.draw(rng, settings.batch)
        loss = _distance_cm(empty, weights, asked)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights.values(), 1.0)
        optimiser.step()
        schedule.step()
        losses[step] = loss.item()
        if progress is not None:
            progress(step + 1, settings.steps)
    learnt = {name: array.detach().numpy().copy() for name, array in weights.items()}
    return Fitted(_predictor(settings, learnt), losses, time.monotonic() - begun)


def _predictor(settings: FitSettings, weights: Mapping[str, Array] | None = None) -> MLP | FERNN:
    shapes = MLP.shapes(settings.observations) if settings.network == "mlp" else FERNN.shapes()
    weights = weights or {name: np.zeros(shape, dtype=np.float32) for name, shape in shapes.items()}
    if settings.network == "mlp":
        return MLP(weights, settings.observations)
    return FERNN(weights, settings.observations, settings.span_mps)


def _begin(shapes: Mapping[str, tuple[int, ...]], seed: int) -> dict[str, Tensor]:
    """Uniform, as torch's linear layers begin."""
    rng = torch.Generator().manual_seed(seed)
    weights: dict[str, Tensor] = {}
    for name, shape in shapes.items():
        inputs = shapes[name.replace(".bias", ".weight")][1]
        weights[name] = (2.0 * torch.rand(shape, generator=rng) - 1.0) / inputs**0.5
        if name == "keep.weight":
            weights[name] = _MEMORY * torch.eye(inputs)  # Le and others (2015): it remembers, to begin with
        weights[name].requires_grad_()
    return weights


def _distance_cm(empty: MLP | FERNN, weights: Mapping[str, Tensor], asked: Question) -> Tensor:
    seen = NetworkInputs.of(asked.history, asked.horizon_s, empty.observations)
    tensors = Shown.of(seen)
    out = forward(empty, weights, tensors)
    way = out[:, :2] + out[:, 2:] * tensors.lead[:, None] * (SPEED_UNIT_MPS * TIME_UNIT_S / POSITION_UNIT_M)
    true = torch.from_numpy((asked.truth - asked.history.latest)[:, :2] / POSITION_UNIT_M).float()
    moving = torch.from_numpy(asked.history.count > 1)  # what was seen once rests, whatever the network says
    return torch.linalg.vector_norm(way - true, dim=1)[moving].mean() * (POSITION_UNIT_M / 0.01)


def forward(empty: MLP | FERNN, weights: Mapping[str, Tensor], seen: Shown) -> Tensor:
    """What the predictor says before it is a forecast, [B, 4]: `__call__` in torch."""
    return _mlp(weights, seen) if isinstance(empty, MLP) else _fernn(empty, weights, seen)


def _mlp(w: Mapping[str, Tensor], seen: Shown) -> Tensor:
    positions, velocities, times, _, there, lead = seen
    x = torch.cat([positions.flatten(1), velocities.flatten(1), times, there, lead[:, None]], dim=1)
    for layer in ("enter", "hidden"):
        x = functional.relu(functional.linear(x, w[f"{layer}.weight"], w[f"{layer}.bias"]))
    return functional.linear(x, w["leave.weight"], w["leave.bias"])


def _fernn(network: FERNN, w: Mapping[str, Tensor], seen: Shown) -> Tensor:
    positions, velocities, times, steps, there, lead = seen
    known = torch.from_numpy(network.hypotheses_mps / SPEED_UNIT_MPS).to(lead.dtype)
    behind = known * (SPEED_UNIT_MPS * TIME_UNIT_S / POSITION_UNIT_M)
    own = torch.cat(
        [
            velocities,
            positions[:, :-1],
            times[:, :-1, None],
            steps[..., None],
            lead[:, None, None].expand(-1, velocities.shape[1], 1),
        ],
        dim=2,
    )
    common = functional.linear(own, w["see.weight"], w["see.bias"])
    slower, later = known @ w["see.weight"][:, :2].T, behind @ w["see.weight"][:, 2:4].T
    h = lead.new_zeros(len(lead), len(known), network.width)
    for j in range(velocities.shape[1]):
        x = common[:, j, None] - slower - times[:, j, None, None] * later
        new = functional.relu(x + functional.linear(h, w["keep.weight"]))
        h = torch.where(there[:, j, None, None] > 0, new, h)
    thought = functional.relu(functional.linear(h, w["think.weight"], w["think.bias"]))
    out = functional.linear(thought, w["say.weight"], w["say.bias"])
    gate = torch.softmax(out[..., 0], dim=1)[..., None]
    velocity = (gate * (known + out[..., 1:3])).sum(dim=1)
    return torch.cat([(gate * out[..., 3:]).sum(dim=1), velocity], dim=1)
