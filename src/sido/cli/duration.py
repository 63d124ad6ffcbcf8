"""How long, for people."""

from __future__ import annotations

import math

__all__ = ["rough_duration", "shown_duration"]


def shown_duration(seconds: float) -> str:
    """As the paper writes it: 1 h 49 m."""
    if not math.isfinite(seconds):
        return "?"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} m" if hours else f"{minutes} m {rest} s"


def rough_duration(seconds: float) -> str:
    """As one says what cannot be known exactly: 40 s, 7 minutes, 3.5 hours."""
    if not math.isfinite(seconds):
        return "?"
    if seconds < 90:
        return f"{10 * math.ceil(seconds / 10)} s"
    return f"{round(seconds / 60)} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"
