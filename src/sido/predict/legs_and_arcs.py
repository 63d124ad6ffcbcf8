"""Straight on or round an arc? A forecast from both, each as likely as its poses make it."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np
from jaxtyping import Float

from sido.arrays import Array, read_only
from sido.predict.forecast import PATH_POINTS, Forecast, leads_s, require_horizon
from sido.predict.history import History
from sido.predict.last_turn import LastTurn, Poses
from sido.predict.noise import Jerks
from sido.predict.settings import require_observations, require_positive

__all__ = ["LegsAndArcs"]

_BLOCK = 250
"""So many objects at once: what is worked on then stays in the processor's cache."""
_TURNS = 4
_BEND_M = 5e-5
_OVERDUE_S = 0.1
_STRAIGHT_RADPS = 1e-9
_FASTEST_RADPS = 4.0
_LEAST_NOISE_M = 1e-5


@final
@dataclass(frozen=True)
class LegsAndArcs:
    """An object that goes straight on in legs, as `LastTurn` has it, or round a circle at a constant speed.

    An arc through all poses competes with the legs. With `z = x + i y` it is

        z(t) = z_0 + v (e^{i w t} - 1) / (i w)

    Since `z' = b + i w z`, it is linear in `z`, `t`, and the integral of `z`: `w` and all else come from a regression
    in closed form, with a normal distribution of `w` known beforehand that draws it to 0, the straight line, where the
    poses do not show it. The forecast is the mean of legs and arc, each as likely as it makes the poses. Without noise
    it is exact on lines, and on circles that are seen at equal intervals.

    Where the poses show that the object has turned twice or oftener, it is taken to turn again after as long as the
    longest of those legs lasted; where it will be after that nobody can know, so it is said to be where it turns. Where
    noise hides its turns, and yet what came before the last leg was no straight leg either, it goes on for `rest_s`.
    """

    turn_every_s: float = 8.0
    """How long a leg lasts, on average."""
    usual_speed_mps: float = 0.05
    """Standard deviation of a velocity of which nothing is known, along each axis."""
    usual_turn_radps: float = 1.0
    """The same, of how fast an object on an arc turns."""
    arcs: float = 0.3
    """How likely an arc is, beforehand."""
    rest_s: float = 0.35
    """How long a restless object goes on."""
    usual_noise_m: float = 0.003
    """Of a pose, where there are too few to measure it."""
    observations: int = 32
    """How many of the newest observations are looked at."""

    def __post_init__(self) -> None:
        require_positive(self, "turn_every_s", "usual_speed_mps", "usual_turn_radps", "arcs", "usual_noise_m")
        require_observations(self, 4)

    def __call__(self, history: History, horizon_s: float | Float[Array, " B"]) -> Forecast:
        """The mean of all."""
        horizon = require_horizon(history, horizon_s)
        recent = history.newest(self.observations)
        leads = leads_s(history, horizon)
        ways = np.zeros((len(history), PATH_POINTS, 3))
        for begin in range(0, len(history), _BLOCK):
            block = slice(begin, begin + _BLOCK)
            way = self._ways(recent.rows(block), np.ascontiguousarray(leads[block].T))
            ways[block, :, :2] = way.T
        return Forecast.along(history, ways, leads)

    def _ways(self, history: History, leads: Float[Array, "16 B"]) -> Float[Array, "2 16 B"]:
        """From where each object was seen last to where it will be."""
        poses = Poses.of(history, 2)
        jerks = Jerks.of(poses.time.astype(np.float32), poses.position.astype(np.float32), poses.valid)
        noise = self._noise(jerks)
        legs = self._legs.legs(poses, noise)
        next_turn = _next_turn_s(jerks, noise, poses.time)
        leads = np.minimum(leads, next_turn)
        offset, velocity = ((legs.likely * part).sum(axis=1) for part in (legs.offset, legs.velocity))
        restless = np.where(np.isfinite(next_turn), 0.0, legs.restless)
        lasting = leads - restless * np.maximum(leads - self.rest_s, 0.0)
        straight = offset[:, None] + lasting * velocity[:, None]
        arc = _Arc.through(poses, noise, self)
        better = arc.evidence + math.log(self.arcs) - legs.evidence
        share = 1.0 / (1.0 + np.exp(np.clip(-better, -700.0, 700.0)))
        return straight + share * (arc.at(leads) - straight)

    def _noise(self, jerks: Jerks) -> Float[Array, " B"]:
        """The variance of a pose: as `LastTurn` measures it, but where the way's own bends count in that."""
        noise = np.where(jerks.bends < 8.0 * jerks.variance, jerks.bends, jerks.variance)
        return np.maximum(np.where(jerks.triples < 6, self.usual_noise_m**2, noise), _LEAST_NOISE_M**2)

    @property
    def _legs(self) -> LastTurn:
        return LastTurn(None, self.turn_every_s, self.usual_speed_mps, self.usual_noise_m, self.observations)


class _Arc(NamedTuple):
    """A circle through poses, at constant speed."""

    turn_radps: Float[Array, " B"]
    here: Float[Array, "2 B"]
    """At the latest pose, from there."""
    velocity: Float[Array, "2 B"]
    """Then."""
    evidence: Float[Array, " B"]
    """The logarithm of how likely it makes the poses."""

    @staticmethod
    def through(poses: Poses, noise: Float[Array, " B"], settings: LegsAndArcs) -> _Arc:
        """By a regression on 1, `t` and i times the integral.

        Of a circle that is seen at equal intervals, the trapezoids of the integral are all wrong by the same factor,
        the tangent's over its angle, which is undone in the end.
        """
        time, valid, p = poses.time, poses.valid, poses.position
        count = np.maximum(valid.sum(axis=0), 1.0)
        step = np.diff(time, axis=0) * valid[:-1]
        halves = (0.5 * step) * (p[:, 1:] + p[:, :-1])
        area = _until_now(len(time)) @ halves  # from each pose to the latest
        area *= valid
        mean_t, mean_p, mean_area = time.sum(axis=0) / count, p.sum(axis=1) / count, area.sum(axis=1) / count
        tt = np.maximum((time * time).sum(axis=0) - count * mean_t**2, 1e-300)
        rise, bulge = ((time * f).sum(axis=1) - count * mean_t * m for f, m in ((p, mean_p), (area, mean_area)))
        whole = (area * area).sum(axis=(0, 1)) - count * _square(mean_area) - _square(bulge) / tt
        left = (p * p).sum(axis=(0, 1)) - count * _square(mean_p) - _square(rise) / tt
        swept = (area[0] * p[1] - area[1] * p[0]).sum(axis=0) - count * _cross(mean_area, mean_p)
        swept -= _cross(bulge, rise) / tt
        whole = np.maximum(whole, 0.0)
        drawn = noise / settings.usual_turn_radps**2
        slope = swept / (whole + drawn)
        half = 0.5 * step.sum(axis=0) / np.maximum(count - 1.0, 1.0)
        turn = np.arctan(slope * half) / np.maximum(half, 1e-9)
        turn = np.clip(turn, -_FASTEST_RADPS, _FASTEST_RADPS)
        speed = (rise - slope * _turned(bulge)) / tt
        here = mean_p - mean_t * speed - slope * _turned(mean_area)
        share = np.where(np.abs(slope) > 1e-6, turn / np.where(slope == 0.0, 1.0, slope), 1.0)
        velocity = share * speed + turn * _turned(here)
        left = np.maximum(left - slope * (2.0 * swept - slope * whole), 0.0) / noise
        widths = np.log(count * (tt * settings.usual_speed_mps**2 / noise + 1.0))
        evidence = -0.5 * (2.0 * ((count - 1.0) * np.log(2.0 * math.pi * noise) + widths) + left)
        # What it takes away that `w` was drawn from a wide distribution: the width that the poses leave of it.
        evidence += 0.5 * np.log(drawn / (whole + drawn)) - 0.5 * (turn / settings.usual_turn_radps) ** 2
        return _Arc(turn, here, velocity, np.where(count > 4, evidence, -np.inf))

    def at(self, leads: Float[Array, "16 B"]) -> Float[Array, "2 16 B"]:
        """Where the object is so long after the latest pose."""
        turn = np.where(np.abs(self.turn_radps) < _STRAIGHT_RADPS, _STRAIGHT_RADPS, self.turn_radps)
        along, aside = np.sin(turn * leads) / turn, 2.0 * np.sin(0.5 * turn * leads) ** 2 / turn
        return self.here[:, None] + along * self.velocity[:, None] + aside * _turned(self.velocity)[:, None]


@functools.cache
def _until_now(poses: int) -> Float[Array, "h steps"]:
    """A product with it is minus a sum from each pose on; much faster than np.cumsum along that axis."""
    return read_only(-np.triu(np.ones((poses, poses - 1))))


def _turned(p: Float[Array, "2 B"]) -> Float[Array, "2 B"]:
    """By a quarter turn: i z."""
    return np.stack([-p[1], p[0]])


def _square(p: Float[Array, "2 B"]) -> Float[Array, " B"]:
    return p[0] * p[0] + p[1] * p[1]


def _cross(p: Float[Array, "2 B"], q: Float[Array, "2 B"]) -> Float[Array, " B"]:
    return p[0] * q[1] - p[1] * q[0]


def _next_turn_s(jerks: Jerks, noise: Float[Array, " B"], time: Float[Array, "h B"]) -> Float[Array, " B"]:
    """How long after the latest pose the object turns again, where its poses show two turns or more; else infinite.

    A turn between poses j and j + 1 bends all quadruples of poses that have both, those that begin with j - 2 to j.
    """
    bent = jerks.squares > np.maximum(40.0 * noise, _BEND_M**2)
    if not bent.any():
        return np.full(len(noise), np.inf)
    begins = bent.copy()
    for lag in (1, 2):
        begins[lag:] &= ~bent[:-lag]
    when = np.where(begins, 0.5 * (time[2:-1] + time[3:]), -np.inf)
    when = -np.sort(-when, axis=0)[:_TURNS]  # the latest first
    seen = np.isfinite(when[1:])
    lasted = np.where(seen, when[:-1] - np.where(seen, when[1:], 0.0), -np.inf)
    again = when[0] + lasted.max(axis=0, initial=-np.inf)
    return np.where(again > -_OVERDUE_S, np.maximum(again, 0.0), np.inf)
