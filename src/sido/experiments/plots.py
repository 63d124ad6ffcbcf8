"""Plots with two axes, as SVG in the page's own colours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import final

__all__ = ["COLOURS", "Cloud", "Line", "lines", "scatter"]

COLOURS = 8
"""That the page has: classes c0 to c7; "rest" is grey."""

_WIDTH, _HEIGHT = 420, 300
_LEFT, _TOP, _RIGHT, _BOTTOM = 52, 14, 12, 44


@final
@dataclass(frozen=True)
class Line:
    """Values over something, with intervals where they are known."""

    name: str
    colour: str
    points: tuple[tuple[float, float], ...]
    intervals: tuple[tuple[float, float], ...] = ()
    dashed: bool = False


@final
@dataclass(frozen=True)
class Cloud:
    """Points of one kind."""

    name: str
    colour: str
    points: tuple[tuple[float, float], ...]
    square: bool = False


Range = tuple[float, float]


def lines(series: Sequence[Line], *, x: str, y: str, label: str, y_range: Range | None = None) -> str:
    """Lines with their legend."""
    points = [point for line in series for point in line.points]
    if not points:
        return ""
    heights = [height for _x, height in points] + [end for line in series for pair in line.intervals for end in pair]
    axes = _Axes(_reach([along for along, _y in points]), y_range or _reach([0.0, *heights]))
    parts = axes.drawn(x, y)
    for line in series:
        spots = [axes.at(*point) for point in line.points]
        dashed = ' stroke-dasharray="5 4"' if line.dashed else ""
        path = " ".join(f"{left:.1f},{top:.1f}" for left, top in spots)
        parts.append(f'<polyline class="{line.colour} line" points="{path}"{dashed}/>')
        for (along, _height), (low, high) in zip(line.points, line.intervals, strict=False):
            (left, bottom), (_same, top) = axes.at(along, low), axes.at(along, high)
            parts.append(
                f'<line class="{line.colour} bar thin" x1="{left:.1f}" y1="{bottom:.1f}" '
                f'x2="{left:.1f}" y2="{top:.1f}"/>'
            )
        for (left, top), (along, height) in zip(spots, line.points, strict=True):
            parts.append(
                f'<circle class="{line.colour} dot" cx="{left:.1f}" cy="{top:.1f}" r="{2.5 if line.dashed else 4}">'
                f"<title>{escape(line.name)}: {height:.3g} at {along:g}</title></circle>"
            )
    return _svg(parts, label) + _legend([(line.name, line.colour, line.dashed) for line in series])


def scatter(
    clouds: Sequence[Cloud],
    *,
    x: str,
    y: str,
    label: str,
    ranges: tuple[Range, Range] | None = None,
    slopes: Sequence[tuple[float, float, str]] = (),
    bare: bool = False,
) -> str:
    """Points, those that come later on top; and lines of a slope and a height at 0. Bare: without numbers."""
    points = [point for cloud in clouds for point in cloud.points]
    if not points:
        return ""
    across, up = ranges or (_reach([point[0] for point in points]), _reach([point[1] for point in points]))
    axes = _Axes(across, up)
    parts = axes.drawn(x, y, numbers=not bare)
    for slope, at_0, colour in slopes:
        parts.append(axes.sloped(slope, at_0, colour))
    for cloud in clouds:
        for point in cloud.points:
            left, top = axes.at(*point)
            if cloud.square:
                parts.append(
                    f'<rect class="{cloud.colour} dot faint" x="{left - 2.5:.1f}" y="{top - 2.5:.1f}" '
                    'width="5" height="5"/>'
                )
            else:
                parts.append(f'<circle class="{cloud.colour} dot faint" cx="{left:.1f}" cy="{top:.1f}" r="3"/>')
    return _svg(parts, label)


@final
@dataclass(frozen=True)
class _Axes:
    x: Range
    y: Range

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Where a point is drawn."""
        along = (x - self.x[0]) / (self.x[1] - self.x[0])
        up = (y - self.y[0]) / (self.y[1] - self.y[0])
        return _LEFT + along * (_WIDTH - _LEFT - _RIGHT), _HEIGHT - _BOTTOM - up * (_HEIGHT - _TOP - _BOTTOM)

    def drawn(self, x: str, y: str, *, numbers: bool = True) -> list[str]:
        """Grid, numbers, names."""
        parts: list[str] = []
        (left, bottom), (right, top) = self.at(self.x[0], self.y[0]), self.at(self.x[1], self.y[1])
        for value in _ticks(self.x):
            here = self.at(value, self.y[0])[0]
            parts.append(f'<line class="grid" x1="{here:.1f}" y1="{top:.1f}" x2="{here:.1f}" y2="{bottom:.1f}"/>')
            if numbers:
                parts.append(
                    f'<text class="tick" x="{here:.1f}" y="{bottom + 15:.1f}" text-anchor="middle">{value:g}</text>'
                )
        for value in _ticks(self.y):
            here = self.at(self.x[0], value)[1]
            parts.append(f'<line class="grid" x1="{left:.1f}" y1="{here:.1f}" x2="{right:.1f}" y2="{here:.1f}"/>')
            if numbers:
                parts.append(
                    f'<text class="tick" x="{left - 6:.1f}" y="{here + 4:.1f}" text-anchor="end">{value:g}</text>'
                )
        middle = (top + bottom) / 2
        parts.append(
            f'<text class="axis" x="{(left + right) / 2:.1f}" y="{_HEIGHT - 8}" text-anchor="middle">{escape(x)}</text>'
        )
        parts.append(
            f'<text class="axis" x="14" y="{middle:.1f}" text-anchor="middle" '
            f'transform="rotate(-90 14 {middle:.1f})">{escape(y)}</text>'
        )
        return parts

    def sloped(self, slope: float, at_0: float, colour: str) -> str:
        """`y = slope x + at_0`, as far as it lies within the axes."""
        ends = sorted(self.x)
        if slope:
            crossing = sorted((height - at_0) / slope for height in self.y)
            ends = [max(ends[0], crossing[0]), min(ends[1], crossing[1])]
        if ends[0] >= ends[1]:
            return ""
        (x1, y1), (x2, y2) = (self.at(end, slope * end + at_0) for end in ends)
        return f'<line class="{colour} line" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _reach(values: Sequence[float]) -> Range:
    low, high = min(values), max(values)
    margin = 0.05 * (high - low) or 0.5
    return (low if low == 0.0 else low - margin, high + margin)


def _ticks(reach: Range) -> list[float]:
    """Some five round numbers within it."""
    width = reach[1] - reach[0]
    step = 10.0 ** math.floor(math.log10(width / 5.0))
    step *= next(factor for factor in (1, 2, 5, 10) if width / (factor * step) <= 6.0)
    first = math.ceil(reach[0] / step - 1e-9)
    return [round(k * step, 10) for k in range(first, math.floor(reach[1] / step + 1e-9) + 1)]


def _legend(names: Sequence[tuple[str, str, bool]]) -> str:
    marks = (
        f'<li><svg class="mark" viewBox="0 0 22 10"><line class="{colour} line" x1="0" y1="5" x2="22" y2="5"'
        f"{' stroke-dasharray=' + chr(34) + '5 4' + chr(34) if dashed else ''}/></svg>{escape(name)}</li>"
        for name, colour, dashed in names
    )
    return f'<ul class="legend">{"".join(marks)}</ul>'


def _svg(parts: Sequence[str], label: str) -> str:
    return (
        f'<svg class="plot" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(label)}">'
        f"{''.join(parts)}</svg>"
    )
