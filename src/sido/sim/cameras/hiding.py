"""What large boxes hide, and what lies outside of an image, compiled.

A box cannot be seen if it lies wholly beside the pyramid of what the image shows, or if the lines of sight to all its
corners pass through one screen: what a convex body hides from an eye is a convex set. A box of which neither is true
is halved along each axis, and its parts are asked in turn; it may be seen as soon as the middle of one of them can.
"""

from __future__ import annotations

import numpy as np

from sido.arrays import Array
from sido.sim.stepper.native import native, native_entry

__all__ = ["may_be_seen"]

MOST_HALVINGS = 3
SMALL_M = 0.02
"""Parts of which no half side is so long are not halved further, but taken to be seen."""


@native
def is_beside(centre: Array, spans: Array, scale: float, eye: Array, normals: Array) -> bool:
    """Whether a box lies wholly beyond one side of the pyramid, whose inward normals `n` are given.

    With `c` the centre and `s_k` the spans (times the scale), its innermost point is at
    `n . (c - eye) + sum_k |n . s_k|`.
    """
    for side in range(normals.shape[0]):
        reach = 0.0
        for k in range(3):
            along = 0.0
            for axis in range(3):
                along += normals[side, axis] * spans[k, axis]
            reach += normals[side, k] * (centre[k] - eye[k]) + scale * abs(along)
        if not reach > 0.0:
            return True
    return False


@native
def is_hidden(centre: Array, spans: Array, scale: float, screens: Array, number: int, own: Array) -> bool:
    """Whether the ways from the eye to all corners of a box pass through the screen of that number.

    `own` is room to work: in the screen's own axes and from its middle, the box's centre, then its spans.
    """
    for axis in range(3):
        own[0, axis] = 0.0
        for k in range(3):
            own[0, axis] += screens[number, 3 + 3 * k + axis] * (centre[k] - screens[number, k])
            total = 0.0
            for j in range(3):
                total += screens[number, 3 + 3 * j + axis] * spans[k, j]
            own[1 + k, axis] = scale * total
    for corner in range(8):
        enters, leaves = -np.inf, 1.0
        for axis in range(3):
            place = own[0, axis]
            for k in range(3):
                place += own[1 + k, axis] if (corner >> k) & 1 else -own[1 + k, axis]
            half, eye = screens[number, 12 + axis], screens[number, 15 + axis]
            way = place - eye
            if way == 0.0:
                if abs(eye) > half:
                    return False
            else:
                one, other = (-half - eye) / way, (half - eye) / way
                enters, leaves = max(enters, min(one, other)), min(leaves, max(one, other))
        if not 0.0 < enters <= leaves:
            return False
    return True


@native
def is_excluded(
    centre: Array, spans: Array, scale: float, eye: Array, normals: Array, screens: Array, own: Array
) -> bool:
    excluded = is_beside(centre, spans, scale, eye, normals)
    for number in range(screens.shape[0]):
        excluded = excluded or is_hidden(centre, spans, scale, screens, number, own)
    return excluded


@native
def halve(centre: Array, spans: Array, scale: float, parts: Array) -> int:
    """Write the centres of a box's parts, of half its scale; how many there are, for a flat box has four."""
    count = 0
    for corner in range(8):
        repeated = False
        for k in range(3):
            flat = spans[k, 0] == 0.0 and spans[k, 1] == 0.0 and spans[k, 2] == 0.0
            repeated = repeated or (flat and (corner >> k) & 1 == 1)
        if repeated:
            continue
        for axis in range(3):
            place = centre[axis]
            for k in range(3):
                place += 0.5 * scale * (spans[k, axis] if (corner >> k) & 1 else -spans[k, axis])
            parts[count, axis] = place
        count += 1
    return count


@native_entry
def may_be_seen(centres: Array, spans: Array, eye: Array, normals: Array, screens: Array) -> Array:
    """Which of `n` boxes an eye may see something of, bool `[n]`.

    Args:
        centres: Of the boxes, `[n, 3]`, world frame.
        spans: From each centre to the middles of three faces, `[n, 3, 3]`, one a row.
        eye: `[3]`.
        normals: Of the pyramid's sides, pointing inward, `[sides, 3]`.
        screens: What hides, `[m, 18]`: a box's centre, its axes as the columns of a matrix, row by row, half its
            sizes, and where the eye is in its axes and from its centre: outside of it.
    """
    answer, own = np.zeros(len(centres), dtype=np.bool_), np.empty((4, 3))
    waiting, depths = np.empty((8 * (MOST_HALVINGS + 1), 3)), np.zeros(8 * (MOST_HALVINGS + 1), dtype=np.int64)
    for box in range(len(centres)):
        longest = np.sqrt((spans[box] ** 2).sum(axis=1).max())
        waiting[0], depths[0], count = centres[box], 0, 1
        while count > 0 and not answer[box]:
            count -= 1
            centre, depth = waiting[count].copy(), depths[count]
            scale = 0.5**depth
            if not is_excluded(centre, spans[box], scale, eye, normals, screens, own):
                whole = depth == MOST_HALVINGS or scale * longest < SMALL_M
                answer[box] = whole or not is_excluded(centre, spans[box], 0.0, eye, normals, screens, own)
                new = halve(centre, spans[box], scale, waiting[count:])
                depths[count : count + new] = depth + 1
                count += new
    return answer
