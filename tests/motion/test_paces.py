"""How fast: schedules against numerical integration, their inverse, their means, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sido.errors import SettingError
from sido.motion import Pace, Resampled, Steady, StopAndGo, Surging
from sido.motion.schedule import Schedule

PACES = [Steady(0.03), Surging(0.03, 0.5, 4.0), Surging(0.03, 1.0, 1.3), StopAndGo(0.03), Resampled((0.02, 0.05), 0.04)]


def speed(schedule: Schedule, t: np.ndarray) -> np.ndarray:
    stretch = schedule.stretch_at(t)
    return schedule.speeds_mps[stretch] + schedule.accelerations_mps2[stretch] * (t - schedule.times_s[stretch])


@pytest.mark.parametrize("pace", PACES, ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_distance_is_the_integral_of_speed(pace: Pace, seed: int):
    assert isinstance(pace, Pace)
    schedule = pace.schedule(np.random.default_rng(seed), 30.0)
    edges = np.linspace(0.0, 30.0, 300_001)
    speeds = speed(schedule, (edges[1:] + edges[:-1]) / 2)
    assert (speeds >= -1e-12).all()
    assert speeds.max() <= pace.peak_speed_mps * (1 + 1e-9)
    integral = np.concatenate([[0.0], np.cumsum(speeds * 1e-4)])
    np.testing.assert_allclose(schedule.distance_m(edges), integral, rtol=0, atol=2e-5)
    assert schedule.length_m == pytest.approx(integral[-1], abs=2e-5)


@given(pace=st.sampled_from(PACES), seed=st.integers(0, 999), share=st.floats(0.0, 1.0), duration=st.floats(0.1, 90.0))
def test_time_is_the_inverse_of_distance(pace: Pace, seed: int, share: float, duration: float):
    schedule = pace.schedule(np.random.default_rng(seed), duration)
    way = np.array([share * schedule.length_m])
    time = schedule.time_s(way)
    np.testing.assert_allclose(schedule.distance_m(time), way, rtol=0, atol=1e-12)
    if time[0] > 1e-3:  # and it is the first such time: just before, the way was shorter
        assert schedule.distance_m(time - 1e-3)[0] < way[0] + 1e-15


@given(pace=st.sampled_from(PACES), seed=st.integers(0, 999), duration=st.floats(0.1, 40.0))
def test_a_longer_schedule_continues_a_shorter_one(pace: Pace, seed: int, duration: float):
    short, long = (pace.schedule(np.random.default_rng(seed), d) for d in (duration, 3 * duration))
    times = np.linspace(0.0, duration, 50)
    assert np.array_equal(short.distance_m(times), long.distance_m(times))


@pytest.mark.parametrize("pace", [Surging(0.02), StopAndGo(0.02), Steady(0.02)], ids=str)
@given(seed=st.integers(0, 9999))
def test_the_mean_over_a_minute_is_exact_from_any_phase(pace: Pace, seed: int):
    schedule = pace.schedule(np.random.default_rng(seed), 60.0)
    assert schedule.length_m / 60.0 == pytest.approx(0.02, rel=1e-9)


def test_resampled_speeds_last_for_the_same_way():
    pace = Resampled((0.015, 0.030, 0.045), 0.31)
    schedule = pace.schedule(np.random.default_rng(0), 30_000.0)
    np.testing.assert_allclose(np.diff(schedule.distances_m), 0.31, rtol=1e-9)
    lasts = {round(0.31 / v, 1) for v in pace.speeds_mps}
    assert lasts == {20.7, 10.3, 6.9}  # the paper's figures
    drawn, counts = np.unique(schedule.speeds_mps, return_counts=True)
    np.testing.assert_allclose(drawn, pace.speeds_mps)
    assert (np.abs(counts / counts.sum() - 1 / 3) < 0.05).all()
    assert schedule.length_m / 30_000.0 == pytest.approx(pace.mean_speed_mps, rel=0.03)
    np.testing.assert_array_equal(schedule.chances_s, schedule.times_s[1:])


def test_surging_swings_between_its_ends_at_a_constant_rate():
    schedule = Surging(0.02, 0.5, 4.0).schedule(np.random.default_rng(1), 20.0)
    speeds = speed(schedule, np.linspace(0, 20, 20001))
    assert speeds.min() == pytest.approx(0.01, abs=1e-5)
    assert speeds.max() == pytest.approx(0.03, abs=1e-5)
    np.testing.assert_allclose(np.abs(schedule.accelerations_mps2), 0.01)
    assert len(schedule.chances_s) == 0


def test_stop_and_go_stands_for_its_share():
    pace = StopAndGo(0.02, go_s=2.0, stop_s=1.0, ramp_s=0.2)
    schedule = pace.schedule(np.random.default_rng(1), 300.0)
    speeds = speed(schedule, np.linspace(0, 300, 300_001))
    assert (speeds < 1e-12).mean() == pytest.approx(1 / 3, abs=1e-3)
    assert (np.abs(speeds - pace.peak_speed_mps) < 1e-12).mean() == pytest.approx(1.6 / 3, abs=1e-3)
    assert np.abs(np.diff(speeds)).max() < 1e-3, "no jump of speed"


def test_phases_differ_between_seeds():
    begins = {
        round(float(speed(Surging().schedule(np.random.default_rng(s), 1.0), np.zeros(1))[0]), 9) for s in range(9)
    }
    assert len(begins) == 9


@pytest.mark.parametrize("pace", [*PACES, Resampled()], ids=str)
def test_at_speed_commands_the_mean(pace: Pace):
    assert pace.at_speed(0.07).mean_speed_mps == pytest.approx(0.07)
    assert pace.at_speed(0.07).peak_speed_mps / 0.07 == pytest.approx(pace.peak_speed_mps / pace.mean_speed_mps)
    assert pace.at_speed(0.0).schedule(np.random.default_rng(0), 9.0).length_m == 0.0
    with pytest.raises(SettingError, match=r"speed_mps: not a usable number; found -0.02; expected a finite number, 0"):
        pace.at_speed(-0.02)
    with pytest.raises(SettingError, match="found nan"):
        pace.at_speed(float("nan"))


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (lambda: Resampled(()), "no speed to draw from"),
        (lambda: Resampled((0.02, 0.0)), "speed_mps: not a usable number; found 0.0"),
        (lambda: Resampled((0.02,), 0.0), "Resampled.every_m"),
        (lambda: Surging(0.02, 1.5), r"Surging.swing: not a share of the speed; found 1.5; expected 0 to 1"),
        (lambda: Surging(0.02, 0.5, 0.0), "Surging.period_s"),
        (lambda: StopAndGo(0.02, go_s=0.3), r"StopAndGo.go_s: not a usable number; found 0.3.*above 0.4"),
        (lambda: StopAndGo(0.02, stop_s=0.0), "StopAndGo.stop_s"),
    ],
)
def test_bad_settings_are_refused(build, text: str):
    with pytest.raises(SettingError, match=text):
        build()


def test_a_way_that_ends_in_a_stop_is_done_when_the_stop_begins():
    schedule = StopAndGo(0.02).schedule(np.random.default_rng(2), 30.0)
    stops = np.flatnonzero((schedule.speeds_mps == 0.0) & (schedule.accelerations_mps2 == 0.0))[1:]
    assert len(stops) >= 8
    # Where the speed runs out, a rounding of the way is the square of one of the time: 1e-17 m is 1e-8 s.
    np.testing.assert_allclose(schedule.time_s(schedule.distances_m[stops]), schedule.times_s[stops], rtol=0, atol=1e-6)
