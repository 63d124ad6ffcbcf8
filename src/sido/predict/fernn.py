"""The flow-equivariant recurrent network of an object's velocity (appendix, FERNN)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Float

from sido.arrays import Array
from sido.predict.forecast import Forecast, require_horizon
from sido.predict.history import History
from sido.predict.network import (
    POSITION_UNIT_M,
    SPEED_UNIT_MPS,
    TIME_UNIT_S,
    NetworkInputs,
    kept_weights,
    straight_in_plane,
)
from sido.predict.settings import require_observations, require_positive

__all__ = ["FERNN"]

_BLOCK = 500
"""So many objects at once: what a step works on then stays in the processor's cache."""


@final
@dataclass(frozen=True, eq=False)
class FERNN:
    """25 hypotheses of the velocity, each of which sees the object from a frame that moves with it.

    With `nu_k` on a grid of 5 x 5 over `[-span, span]^2`, and `p_j`, `t_j` of pose `j` from the latest one,

        x_jk = [v_j - nu_k,  p_j - nu_k t_j,  t_j, dt_j, lead]        v_j = (p_{j+1} - p_j) / dt_j
        h_jk = relu(U x_jk + W h_{j-1,k} + b),   h_0k = 0             one cell for all hypotheses
        [g, o, c]_k = A relu(T h_k + d) + a                           one head for all
        velocity = sum_k softmax(g)_k (nu_k + o_k),   correction = sum_k softmax(g)_k c_k

    The hypotheses differ in what they subtract only. So if the object's velocity changes by a step of the grid, each of
    them computes what its neighbour did, and the answer changes by that step, but for the grid's rim. A pose that is
    missing is no step.
    """

    weights: Mapping[str, Array]
    observations: int = 8
    """How many of the newest observations are looked at."""
    span_mps: float = 0.06
    """How fast the outermost hypotheses are, along each axis."""
    side: int = 5
    """Hypotheses along each axis."""
    width: int = 12
    """Numbers in the state of a hypothesis."""

    def __post_init__(self) -> None:
        require_observations(self)
        require_positive(self, "span_mps")
        object.__setattr__(self, "weights", kept_weights(self.weights, self.shapes(self.width), "FERNN"))

    @staticmethod
    def shapes(width: int = 12) -> dict[str, tuple[int, ...]]:
        """The arrays that it consists of."""
        return {
            "see.weight": (width, 7),
            "see.bias": (width,),
            "keep.weight": (width, width),
            "think.weight": (width, width),
            "think.bias": (width,),
            "say.weight": (5, width),
            "say.bias": (5,),
        }

    @property
    def hypotheses_mps(self) -> Float[Array, "K 2"]:
        """`nu_k`: y fastest."""
        line = np.linspace(-self.span_mps, self.span_mps, self.side)
        return np.stack(np.meshgrid(line, line, indexing="ij"), axis=-1).reshape(-1, 2)

    def __call__(self, history: History, horizon_s: float | Float[Array, " B"]) -> Forecast:
        """Straight on, as the hypotheses agree."""
        horizon = require_horizon(history, horizon_s)
        seen = NetworkInputs.of(history, horizon, self.observations, self.weights["see.weight"].dtype.type)
        rows = range(0, len(history), _BLOCK)
        said = [self._said(NetworkInputs(*(array[row : row + _BLOCK] for array in seen))) for row in rows]
        return straight_in_plane(history, horizon, np.concatenate([np.zeros((0, 4)), *said]))

    def states(self, seen: NetworkInputs) -> Float[Array, "width K B"]:
        """`h_k` after the latest pose."""
        own, common = self._states(seen)
        return own + common[:, None]

    def _states(self, seen: NetworkInputs) -> tuple[Float[Array, "width K B"], Float[Array, "width B"]]:
        """`h_k` in two parts, the second the same for all hypotheses.

        relu(x + c) = max(x, -c) + c: what all hypotheses share need not be added to each of them at each step.
        """
        w, rows, width = self.weights, len(seen.lead), self.width
        see = w["see.weight"]
        known = (self.hypotheses_mps.T / SPEED_UNIT_MPS).astype(see.dtype)
        behind = SPEED_UNIT_MPS * TIME_UNIT_S / POSITION_UNIT_M
        # One product for all that differs between hypotheses: of h_k, nu_k and nu_k t_j, one below the other.
        cell = np.concatenate([w["keep.weight"], -see[:, :2], -behind * see[:, 2:4]], axis=1).astype(see.dtype)
        z = np.zeros((width + 4, known.shape[1], rows), dtype=see.dtype)
        z[width : width + 2] = known[:, :, None]
        new = np.empty_like(z[:width])
        common, kept = self._common(seen), np.zeros((width, rows), dtype=see.dtype)
        times, there = np.ascontiguousarray(seen.times.T), np.ascontiguousarray(seen.seen.T) > 0
        whole = bool(there[:-1].all())
        for j in range(self.observations - 1):
            np.multiply(z[width : width + 2], times[j], out=z[width + 2 :])
            np.matmul(cell, z.reshape(width + 4, -1), out=new.reshape(width, -1))
            if whole:
                kept = common[j] + w["keep.weight"] @ kept
                np.maximum(new, np.negative(kept[:, None]), out=z[:width])
            else:  # where there is no pose the state stays: its parts would not
                new += common[j][:, None]
                np.maximum(new, 0.0, out=z[:width], where=there[j])
        return z[:width], kept

    def _common(self, seen: NetworkInputs) -> Float[Array, "steps width B"]:
        """What the cell is shown that is the same for all hypotheses: in their frames at `nu = 0`."""
        w, steps = self.weights, self.observations - 1
        lead = np.broadcast_to(seen.lead[:, None, None], (len(seen.lead), steps, 1))
        own = seen.velocities, seen.positions[:, :-1], seen.times[:, :-1, None], seen.steps[..., None], lead
        shown = np.ascontiguousarray(np.concatenate(own, axis=2).transpose(1, 2, 0))
        return w["see.weight"] @ shown + w["see.bias"][:, None]

    def _said(self, seen: NetworkInputs) -> Float[Array, "B 4"]:
        w, (own, common) = self.weights, self._states(seen)
        common = w["think.weight"] @ common + w["think.bias"][:, None]
        thought = (w["think.weight"] @ own.reshape(self.width, -1)).reshape(own.shape)
        np.maximum(thought, np.negative(common[:, None]), out=thought)
        common = w["say.weight"] @ common + w["say.bias"][:, None]
        out = (w["say.weight"] @ thought.reshape(self.width, -1)).reshape(5, *own.shape[1:])
        gate = np.exp(np.subtract(out[0], out[0].max(axis=0)))
        gate /= gate.sum(axis=0)
        pooled = (gate * out[1:]).sum(axis=1) + common[1:]
        pooled[:2] += (self.hypotheses_mps.T / SPEED_UNIT_MPS) @ gate
        return np.concatenate([pooled[2:], pooled[:2]]).T.astype(float)
