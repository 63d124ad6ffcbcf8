"""Charts as SVG, in the page's own colours: they follow its light and dark, and need nothing to be drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

__all__ = ["curves", "intervals", "shares"]

_ROW, _LEFT, _WIDE, _RIGHT = 42, 10, 360, 60


def intervals(rows: Sequence[tuple[str, float, float, float, float | None, int]], label: str) -> str:
    """Rates as dots with their intervals, one row each: name, rate, low, high, the paper's rate, and which colour."""
    height = _ROW * len(rows) + 30
    parts = [
        f'<line class="grid" x1="{_x(tick / 4):.1f}" y1="4" x2="{_x(tick / 4):.1f}" y2="{height - 24}"/>'
        f'<text class="tick" x="{_x(tick / 4):.1f}" y="{height - 8}" text-anchor="middle">{tick * 25} %</text>'
        for tick in range(5)
    ]
    for k, (name, rate, low, high, paper, colour) in enumerate(rows):
        y = _ROW * k + 30
        parts.append(f'<text class="name" x="{_LEFT - 4}" y="{y - 13}">{escape(name)}</text>')
        if paper is not None:
            parts.append(
                f'<path class="paper" d="M{_x(paper):.1f} {y - 6} l6 6 l-6 6 l-6 -6 z">'
                f"<title>the paper: {paper:.2f} of 20</title></path>"
            )
        parts.append(f'<line class="c{colour} bar" x1="{_x(low):.1f}" y1="{y}" x2="{_x(high):.1f}" y2="{y}"/>')
        parts.append(
            f'<circle class="c{colour} dot" cx="{_x(rate):.1f}" cy="{y}" r="5">'
            f"<title>{escape(name)}: {rate:.1%} ({low:.1%} to {high:.1%})</title></circle>"
        )
        parts.append(f'<text class="value" x="{_LEFT + _WIDE + 16}" y="{y + 4}">{rate:.2f}</text>')
    return _svg(parts, _LEFT + _WIDE + _RIGHT, height, label)


def curves(lines: Mapping[str, Sequence[tuple[float, float]]], label: str, unit: str) -> str:
    """Values over steps, on a logarithmic scale; each line ends in its name."""
    import math

    points = [point for line in lines.values() for point in line if point[1] > 0]
    if not points:
        return ""
    far = max(step for step, _value in points) or 1.0
    low, high = (math.log10(end) for end in (min(v for _s, v in points), max(v for _s, v in points)))
    span = max(high - low, 1e-9)

    def place(step: float, value: float) -> str:
        return f"{50 + 480 * step / far:.1f},{15 + 170 * (high - math.log10(value)) / span:.1f}"

    parts = [
        f'<text class="tick" x="44" y="{19 + 170 * k / 2}" text-anchor="end">{10 ** (high - span * k / 2):.2g}</text>'
        f'<line class="grid" x1="50" y1="{15 + 170 * k / 2}" x2="530" y2="{15 + 170 * k / 2}"/>'
        for k in range(3)
    ]
    parts.append(f'<text class="tick" x="530" y="206" text-anchor="end">{far:.0f} {escape(unit)}</text>')
    for k, (name, line) in enumerate(lines.items()):
        usable = [(step, value) for step, value in line if value > 0]
        if usable:
            path = " ".join(place(step, value) for step, value in usable)
            parts.append(f'<polyline class="c{k % 8} line" points="{path}"><title>{escape(name)}</title></polyline>')
            parts.append(f'<circle class="c{k % 8} dot" cx="545" cy="{24 + 20 * k}" r="5"/>')
            parts.append(f'<text class="name" x="556" y="{28 + 20 * k}">{escape(name)}</text>')
    return _svg(parts, 800, max(212, 30 + 20 * len(lines)), label)


def shares(rows: Sequence[tuple[str, Mapping[str, int], int]], kinds: Sequence[str], label: str) -> str:
    """Stacked bars: name, counts by kind, and of how many."""
    parts: list[str] = []
    for k, (name, counts, total) in enumerate(rows):
        y, x = _ROW * k + 22, float(_LEFT)
        parts.append(f'<text class="name" x="{_LEFT}" y="{y - 6}">{escape(name)}</text>')
        parts.append(f'<rect class="rest" x="{_LEFT}" y="{y}" width="{_WIDE}" height="14"/>')
        for kind, count in counts.items():
            width = _WIDE * count / total
            parts.append(
                f'<rect class="f{kinds.index(kind) % 10}" x="{x:.1f}" y="{y}" width="{width:.1f}" height="14">'
                f"<title>{escape(name)}: {count} of {total} {escape(kind)}</title></rect>"
            )
            x += width
        failed = sum(counts.values())
        parts.append(f'<text class="value" x="{_LEFT + _WIDE + 10}" y="{y + 11}">{failed}/{total}</text>')
    return _svg(parts, _LEFT + _WIDE + _RIGHT, _ROW * len(rows) + 10, label)


def _x(rate: float) -> float:
    return _LEFT + _WIDE * rate


def _svg(parts: Sequence[str], width: float, height: float, label: str) -> str:
    return (
        f'<div class="scroll"><svg viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="{escape(label)}" '
        f'style="max-width:{1.2 * width:.0f}px">{"".join(parts)}</svg></div>'
    )
