"""How long, for people."""

from __future__ import annotations

import math

__all__ = ["shown_duration"]


def shown_duration(seconds: float) -> str:
    """As the paper writes it: 1 h 49 m."""
    if not math.isfinite(seconds):
        return "?"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} m" if hours else f"{minutes} m {rest} s"
