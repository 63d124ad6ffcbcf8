from __future__ import annotations

import cmath
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.special import ellipeinc

from sido.errors import DataError, SettingError
from sido.geometry import sparc

RATE_HZ = 20.0
TIME = np.linspace(0.0, 1.0, 64)
MINIMUM_JERK = 30 * TIME**2 * (1 - TIME) ** 2

profiles = st.lists(st.floats(0.0, 2.0), min_size=1, max_size=20).filter(lambda v: max(v) > 1e-3).map(np.array)


def slow_sparc(speed: list[float], rate_hz: float, padding: int, cutoff_hz: float, threshold: float) -> float:
    """The definition, read aloud: a sum for every frequency, then a walk along the curve."""
    samples = 1
    while samples < len(speed):
        samples *= 2
    samples *= 2**padding
    frequencies, magnitudes = [], []
    for k in range(samples // 2 + 1):
        total = sum(v * cmath.exp(-2j * math.pi * k * n / samples) for n, v in enumerate(speed))
        frequencies.append(k * rate_hz / samples)
        magnitudes.append(abs(total) / sum(speed))
    above = [k for k, magnitude in enumerate(magnitudes) if magnitude >= threshold]
    allowed = [k for k, frequency in enumerate(frequencies) if frequency <= cutoff_hz]
    last = max(1, min(above[-1], allowed[-1]))
    length = 0.0
    for k in range(last):
        across = (frequencies[k + 1] - frequencies[k]) / frequencies[last]
        length += math.sqrt(across**2 + (magnitudes[k + 1] - magnitudes[k]) ** 2)
    return -length


@given(
    speed=profiles,
    rate_hz=st.sampled_from([10.0, 20.0, 30.0, 100.0]),
    padding=st.integers(1, 4),
    cutoff_hz=st.sampled_from([6.0, 10.0, 20.0, 1e300]),
    threshold=st.sampled_from([0.0497, 0.2031, 0.7013]),
)
def test_the_slow_definition_agrees(speed, rate_hz, padding, cutoff_hz, threshold):
    assume(cutoff_hz >= rate_hz / 2 ** (math.ceil(math.log2(len(speed))) + padding))  # else it is refused, see below
    found = sparc(speed, rate_hz, padding=padding, cutoff_hz=cutoff_hz, threshold=threshold)
    expected = slow_sparc(speed.tolist(), rate_hz, padding, cutoff_hz, threshold)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


def test_two_equal_samples_have_an_elliptic_arc():
    """`V^ = cos(w / 2)`, which meets the threshold at `w / 2 = a`: the arc is `E(a | -a^2) / a`."""
    a = math.acos(0.05)
    found = sparc(np.array([3.0, 3.0]), RATE_HZ, padding=14)
    np.testing.assert_allclose(found, -ellipeinc(a, -(a**2)) / a, rtol=0, atol=2e-4)


def test_one_sample_has_a_flat_spectrum():
    np.testing.assert_allclose(sparc(np.array([0.3]), RATE_HZ), -1.0, rtol=0, atol=1e-15)


@given(speed=profiles, exponent=st.integers(-1000, 1000))
def test_the_scale_of_the_motion_does_not_matter(speed, exponent):
    speed = np.where(speed < 1e-6, 0.0, speed)  # so that no sample falls out of the range of a float
    np.testing.assert_array_equal(sparc(speed * 2.0**exponent, RATE_HZ), sparc(speed, RATE_HZ))


@pytest.mark.parametrize("speed", [5e-324, 1e-310, 1.7e308])
def test_the_slowest_and_the_fastest_floats_are_speeds_like_others(speed):
    np.testing.assert_array_equal(sparc(np.full(7, speed), RATE_HZ), sparc(np.ones(7), RATE_HZ))


@given(speed=profiles)
def test_a_movement_and_its_reverse_are_equally_smooth(speed):
    np.testing.assert_allclose(sparc(speed[::-1].copy(), 100.0, threshold=0.0497),
                               sparc(speed, 100.0, threshold=0.0497), rtol=0, atol=1e-9)  # fmt: skip


def test_jerky_is_below_smooth():
    two_submovements = MINIMUM_JERK + np.roll(MINIMUM_JERK, 40) * (TIME > 0.6)
    tremor = MINIMUM_JERK * (1 + 0.6 * np.cos(2 * np.pi * 12 * TIME))
    noisy = np.abs(MINIMUM_JERK + np.random.default_rng(0).normal(scale=0.8, size=64))
    smooth = sparc(MINIMUM_JERK, RATE_HZ)
    for jerky in (two_submovements, tremor, noisy):
        assert sparc(jerky, RATE_HZ) < smooth - 0.05


def test_the_cutoff_ignores_noise_under_the_threshold():
    whisper = MINIMUM_JERK + 1e-3 * np.abs(np.random.default_rng(0).normal(size=64))
    np.testing.assert_allclose(sparc(whisper, RATE_HZ), sparc(MINIMUM_JERK, RATE_HZ), rtol=0, atol=5e-3)


def test_a_cap_beyond_half_the_rate_does_not_reach_the_mirror_image():
    at_nyquist = sparc(MINIMUM_JERK, RATE_HZ, cutoff_hz=10.0)
    np.testing.assert_array_equal(sparc(MINIMUM_JERK, RATE_HZ, cutoff_hz=20.0), at_nyquist)
    two_sided = np.abs(np.fft.fft(MINIMUM_JERK, 1024)) / MINIMUM_JERK.sum()
    assert two_sided[-1] > 0.05  # a two-sided spectrum would come back above the threshold at 20 Hz
    assert (two_sided[200:512] < 0.05).all()


def test_batches_are_stacks_and_dtypes_are_kept():
    speeds = np.random.default_rng(0).uniform(size=(2, 3, 17))
    found = sparc(speeds, RATE_HZ)
    assert found.shape == (2, 3)
    for index in np.ndindex(2, 3):
        np.testing.assert_allclose(found[index], sparc(speeds[index], RATE_HZ), rtol=0, atol=1e-14)
    single = sparc(speeds[0, 0], RATE_HZ)
    assert single.shape == ()
    assert f"{single:.3f}" == f"{float(single):.3f}"
    assert sparc(speeds.astype(np.float32), RATE_HZ).dtype == np.float32
    assert sparc(speeds[:0], RATE_HZ).shape == (0, 3)


@pytest.mark.usefixtures("as_user")
@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.float64, list])
def test_whole_numbers_are_speeds_like_others(kind):
    """Encoder counts: the answer is no whole number, whatever the speeds are."""
    counts = np.round(100 * MINIMUM_JERK)
    speed = counts.tolist() if kind is list else counts.astype(kind)
    found = sparc(speed, RATE_HZ)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, sparc(counts, RATE_HZ))


def test_the_argument_is_not_written_to():
    speed = MINIMUM_JERK.copy()
    speed.flags.writeable = False
    sparc(speed, RATE_HZ)


@pytest.mark.parametrize(
    ("speed", "message"),
    [
        (np.zeros((2, 0)), r"speed: no samples; found \[2, 0\]; expected one sample or more"),
        (np.array([[1.0, 2.0], [1.0, np.nan]]), r"speed: not a speed; found nan at \[1, 1\]; expected finite"),
        (np.array([1.0, np.inf]), r"speed: not a speed; found inf at \[1\]"),
        (np.array([1.0, -0.1]), r"speed: not a speed; found -0.1 at \[1\]"),
        (np.array([[1.0, 2.0], [0.0, 0.0]]), r"speed: nothing moves, .*; found 0.0 at \[1\]; expected a profile"),
        (np.zeros(3), r"speed: nothing moves, .*; found 0.0; expected a profile"),
        (np.array(1.0), r"speed: no samples; found \[\]; expected one sample or more"),
        (["fast"], r"speed: not real numbers; found <U4; expected floats or whole numbers"),
        ([1.0, [2.0]], r"speed: not an array of numbers; found \[1.0, \[2.0\]\]"),
        (np.ones(3, complex), r"speed: not real numbers; found complex128"),
        (None, r"speed: not real numbers; found object"),
    ],
)
@pytest.mark.usefixtures("as_user")
def test_what_has_no_smoothness_is_refused(speed, message):
    with pytest.raises(DataError, match=message):
        sparc(speed, RATE_HZ)


@pytest.mark.usefixtures("as_user")
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rate_hz": 0.0}, "rate_hz: not a usable number; found 0.0"),
        ({"rate_hz": math.nan}, "rate_hz: not a usable number; found nan"),
        ({"cutoff_hz": -1.0}, "cutoff_hz: not a usable number; found -1.0"),
        ({"cutoff_hz": 1e-3}, "cutoff_hz: finer than the spectrum; found 0.001; expected at least 0.0195312"),
        ({"padding": 0}, "padding: not a usable number; found 0; expected a whole number, 1 to 16"),
        ({"padding": 60}, "padding: not a usable number; found 60; expected a whole number, 1 to 16"),
        ({"padding": 1.5}, "padding: not a usable number; found 1.5; expected a whole number, 1 to 16"),
        ({"threshold": 0.0}, r"threshold: not a part of V\(0\); found 0.0"),
        ({"threshold": 1.1}, r"threshold: not a part of V\(0\); found 1.1"),
    ],
)
def test_settings_out_of_range_are_refused(settings, message):
    with pytest.raises(SettingError, match=message):
        sparc(MINIMUM_JERK, **{"rate_hz": RATE_HZ, **settings})
