"""What the numbers that a person chooses for a motion may be."""

from __future__ import annotations

import math

from sido.errors import SettingError

__all__ = ["require_above", "require_at_least"]


def require_above(bound: float, value: float, field: str) -> None:
    """Raise unless `value` is finite and above `bound`."""
    if not (math.isfinite(value) and value > bound):
        raise SettingError("not a usable number", field=field, found=value, expected=f"a finite number above {bound:g}")


def require_at_least(bound: float, value: float, field: str) -> None:
    """Raise unless `value` is finite and `bound` or more."""
    if not (math.isfinite(value) and value >= bound):
        raise SettingError(
            "not a usable number", field=field, found=value, expected=f"a finite number, {bound:g} or more"
        )
