"""What the numbers that a person chooses for a predictor may be."""

from __future__ import annotations

from typing import Any

from sido.errors import SettingError
from sido.motion.settings import require_above

__all__ = ["require_observations", "require_positive"]


def require_positive(settings: Any, *names: str) -> None:
    """Raise unless these fields of `settings` are finite and above 0."""
    for name in names:
        require_above(0.0, getattr(settings, name), f"{type(settings).__name__}.{name}")


def require_observations(settings: Any, least: int = 2) -> None:
    """Raise unless `settings.observations` is so many."""
    if settings.observations < least:
        raise SettingError(
            "too few observations",
            field=f"{type(settings).__name__}.observations",
            found=settings.observations,
            expected=f"{least} or more",
        )
