"""How smooth a movement is: the spectral arc length of its speed (SPARC)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import NDArray

from sido.arrays import Array, FloatArray
from sido.errors import DataError, SettingError
from sido.geometry.components import as_floats, refuse_where

__all__ = ["sparc"]

_FINEST = 16  # a spectrum 65,536 times as fine as the profile resolves more than any plot, and still fits in memory


def sparc(
    speed: Float[Array, "*batch T"],
    rate_hz: float,
    *,
    padding: int = 4,
    cutoff_hz: float = 20.0,
    threshold: float = 0.05,
) -> Float[Array, "*batch"]:
    """The spectral arc length of speed profiles: negative, and the higher the smoother. A 0-d array for one profile.

    Of the dtype of the speed; float64 where that is whole numbers.

    With `V(f)` the magnitude spectrum of the speed and `V^ = V / V(0)` (so the scale of the motion drops out),

        SPARC = - sum_k sqrt((1 / K)^2 + (V^_{k+1} - V^_k)^2)    over k = 0 .. K-1,

    the length of the curve `(f / f_c, V^)` from 0 to the cutoff `f_c = K df`: the discrete form of
    `- int_0^{f_c} sqrt((1/f_c)^2 + (dV^/df)^2) df`. The cutoff adapts: it is the lowest frequency beyond which `V^`
    stays under `threshold`, but at most `cutoff_hz`. It lies on the grid of the spectrum, one step up at the least.

    The speed is padded with zeros to `2^(ceil(log2 T) + padding)` samples, as in Balasubramanian's reference. That
    reference takes a two-sided spectrum, so a cap above half the sampling rate (20 Hz at a control rate of 20 Hz)
    lets it run on into the mirror image. Here the spectrum is one-sided: the cap is `min(cutoff_hz, rate_hz / 2)`.

    Args:
        speed: magnitudes of velocity, m/s or any other unit, at equal times.
        rate_hz: samples per second.
        padding: powers of two by which the spectrum is made finer, 1 to 16.
        cutoff_hz: frequencies above it never count.
        threshold: the part of `V(0)`, in (0, 1], under which a spectrum is taken to have ended.

    Raises:
        DataError: a profile is no array of numbers, empty, not finite or negative; or zero throughout: `V(0) = 0`,
            and how smooth standing still is has no answer.
        SettingError: a setting is out of range, or `cutoff_hz` is finer than the spectrum.
    """
    _check_settings(rate_hz, padding, cutoff_hz, threshold)
    speed = as_floats(speed, field="speed")
    _check_speed(speed)
    samples = 2 ** (math.ceil(math.log2(speed.shape[-1])) + int(padding))
    step_hz = rate_hz / samples
    cap = math.floor(min(cutoff_hz, rate_hz / 2) / step_hz)
    if cap < 1:
        raise SettingError(
            "finer than the spectrum", field="cutoff_hz", found=cutoff_hz, expected=f"at least {step_hz:g}"
        )
    fastest = speed.max(axis=-1, keepdims=True)  # scaled first, so that no profile is too slow or fast for a float
    spectrum = np.abs(np.fft.rfft((speed / fastest).astype(np.float64), samples))
    spectrum /= spectrum[..., :1]
    cutoff = np.clip(_last_index(spectrum >= threshold), 1, cap)[..., None]
    arcs = np.hypot(1 / cutoff, np.diff(spectrum, axis=-1))
    length = np.where(np.arange(samples // 2) < cutoff, arcs, 0.0).sum(axis=-1)
    return np.asarray(-length, dtype=speed.dtype)


def _last_index(holds: NDArray[np.bool_]) -> Int[Array, "*batch"] | np.integer[Any]:
    """Where `holds` is true for the last time along the last axis. It is at index 0, where the spectrum is 1."""
    return holds.shape[-1] - 1 - holds[..., ::-1].argmax(axis=-1)


def _check_settings(rate_hz: float, padding: int, cutoff_hz: float, threshold: float) -> None:
    for name, value in (("rate_hz", rate_hz), ("cutoff_hz", cutoff_hz)):
        if not (math.isfinite(value) and value > 0):
            raise SettingError("not a usable number", field=name, found=value, expected="a finite number above 0")
    if not (_is_whole(padding) and 1 <= padding <= _FINEST):
        raise SettingError(
            "not a usable number", field="padding", found=padding, expected=f"a whole number, 1 to {_FINEST}"
        )
    if not 0 < threshold <= 1:
        raise SettingError("not a part of V(0)", field="threshold", found=threshold, expected="above 0, at most 1")


def _is_whole(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _check_speed(speed: FloatArray) -> None:
    if speed.shape[-1:] in ((), (0,)):
        raise DataError("no samples", field="speed", found=list(speed.shape), expected="one sample or more")
    refuse_where(
        ~(np.isfinite(speed) & (speed >= 0)),
        speed,
        "not a speed",
        field="speed",
        expected="finite numbers that are not negative",
    )
    fastest = np.asarray(speed.max(axis=-1))
    refuse_where(
        fastest == 0,
        fastest,
        "nothing moves, so V(0) = 0 and there is no smoothness",
        field="speed",
        expected="a profile that is above 0 somewhere",
    )
