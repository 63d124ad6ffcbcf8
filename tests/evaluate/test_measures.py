"""Metrics of logs made by hand, whose answers are known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

from evaluate.logs import PERIOD_S, lifted, log, straight
from sido.errors import DataError
from sido.evaluate import Failure, failure_of, measure, summarise
from sido.evaluate.coverage import coverage, hull_area_m2
from sido.evaluate.grasps import grasps_of
from sido.evaluate.measures import forecast_errors_m
from sido.evaluate.rollout import Rollout
from sido.evaluate.tracking import Tracking
from sido.geometry import sparc

STEPS = 64
THING = straight(STEPS)


def at(offset: tuple[float, float, float]) -> np.ndarray:
    return THING + np.array(offset)


# --- tracking


@pytest.mark.parametrize("share", [0.0, 0.42, 1.0])
def test_the_slope_is_the_share_of_the_way_that_is_followed(share: float):
    hand = 0.5 + share * (THING - 0.5)
    tracking = Tracking.of([log(hand, THING), log(hand + np.array([0, 0.1, 0]), THING)])
    assert len(tracking.commanded) == 2 * (STEPS // 8 - 1)
    assert tracking.slope() == pytest.approx(share, abs=1e-6)


def test_the_slope_is_least_squares():
    rng = np.random.default_rng(0)
    hand = THING + 0.02 * rng.standard_normal(THING.shape)
    tracking = Tracking.of([log(hand, THING)])
    expected = np.polyfit(tracking.objects[:, 0], tracking.commanded[:, 0], 1)[0]
    assert tracking.slope() == pytest.approx(expected)
    np.testing.assert_allclose(tracking.objects, THING[8:64:8], atol=1e-6)
    np.testing.assert_allclose(tracking.commanded, hand[8:64:8], atol=1e-6)


def test_only_what_lies_before_the_grasp_counts():
    tracking = Tracking.of([log(THING, THING, closing=range(20, STEPS))])
    np.testing.assert_allclose(tracking.objects, THING[[8, 16]], atol=1e-6)


def test_an_object_that_stays_has_no_slope():
    with pytest.raises(DataError, match="no slope"):
        Tracking.of([log(THING, straight(STEPS, 0.0))]).slope()


# --- forecasts


def told(error_m: float, ahead: int = 16) -> np.ndarray:
    starts = np.arange(STEPS) - np.arange(STEPS) % 8
    return np.array([0.5 + 0.04 * PERIOD_S * (start + ahead) for start in starts])[:, None] * [1, 0, 0] + [
        0.0, error_m, 0.02
    ]  # fmt: skip


@pytest.mark.parametrize("ahead", [16, 10, 3])
@pytest.mark.parametrize("error_m", [0.0, 0.013])
def test_the_forecast_error_is_what_the_channel_is_off_by(error_m: float, ahead: int):
    rollout = log(THING, THING, channel=told(error_m, ahead), ahead_steps=ahead)
    assert measure(rollout).fde_m == pytest.approx(error_m, abs=1e-6)


def test_holding_errs_by_the_way():
    assert measure(log(THING, THING)).fde_m == pytest.approx(16 * PERIOD_S * 0.04, abs=1e-6)


def test_forecasts_beyond_the_grasp_are_not_judged():
    """With T_g = 30, those of steps 0 and 8 speak of 16 and 24; that of 16 would speak of 32."""
    rollout = log(THING, THING, closing=range(30, STEPS), channel=told(0.01))
    assert len(forecast_errors_m(rollout, 30)) == 2
    assert len(forecast_errors_m(rollout, 32)) == 3


# --- hand and object


def test_the_hand_object_distance_at_both_horizons():
    hand = THING.copy()
    hand[8:], hand[16:] = at((0.03, 0, 0.04))[8:], at((0, 0, 0.02))[16:]
    measures = measure(log(hand, THING, closing=range(17, STEPS)))
    # T_a: chunks of 0 (at 8: 5 cm) and 8 (at 16: 2 cm); the one of 16 ends after the grasp. T_p: that of 0 alone.
    assert measures.hand_object_ta_m == pytest.approx(0.035, abs=1e-6)
    assert measures.hand_object_tp_m == pytest.approx(0.02, abs=1e-6)


def test_smoothness_is_that_of_the_speed():
    speed = np.sin(np.linspace(0, np.pi, STEPS)) ** 2 + 0.1
    hand = np.zeros((STEPS + 1, 3))
    hand[1:, 0] = np.cumsum(speed) * PERIOD_S
    measured = measure(log(hand, THING, closing=range(40, STEPS))).sparc
    assert measured == pytest.approx(float(sparc(speed[:40], 20.0)), abs=1e-4)
    assert math.isnan(measure(log(straight(STEPS, 0.0), THING)).sparc)


@pytest.mark.parametrize(("offset", "lead"), [(0.02, 0.02), (-0.015, -0.015), (0.0, 0.0)])
def test_the_lead_is_positive_ahead_of_the_object(offset: float, lead: float):
    for way in (1, -1):
        thing = straight(STEPS, way * 0.04)
        hand = thing + np.array([way * offset, 0.01, 0.05])
        measures = measure(log(hand, thing, closing=range(20, STEPS)))
        assert measures.lead_at_closing_m == pytest.approx(lead, abs=1e-6)
        assert measures.closing_s == pytest.approx(1.0)


# --- grasps and failures


def test_grasps_flicker_and_are_counted_once():
    held = (range(10, 20), range(23, 30), range(40, 50))
    rollout = log(THING, lifted(THING, 42, 50), closing=range(8, STEPS), held=held)
    assert [(grasp.start, grasp.stop, grasp.lifted) for grasp in grasps_of(rollout)] == [
        (10, 30, False),
        (40, 50, True),
    ]
    assert (measure(rollout).grasps, measure(rollout).lost_grasps, measure(rollout).lifted) == (2, 2, True)


def test_a_success_loses_all_grasps_but_the_last():
    held = (range(10, 20), range(40, 60))
    rollout = log(THING, lifted(THING, 42, 65), closing=range(8, 58), held=held, ending="success")
    assert (measure(rollout).lost_grasps, measure(rollout).time_to_success_s) == (1, pytest.approx(3.2))


FAILURES: dict[str, tuple[Rollout, Failure | None]] = {
    "success": (log(THING, THING, ending="success"), None),
    "fault": (log(THING, THING, ending="robot fault"), Failure.ROBOT_FAULT),
    "lost": (log(THING, THING, ending="object out of the workspace"), Failure.OBJECT_LOST),
    "open": (log(THING, THING), Failure.NEVER_CLOSED),
    "behind": (log(at((-0.03, 0, 0)), THING, closing=range(20, 40)), Failure.CLOSED_BEHIND),
    "ahead": (log(at((0.03, 0, 0)), THING, closing=range(20, 40)), Failure.CLOSED_AHEAD),
    "beside": (log(at((0, 0.03, 0)), THING, closing=range(20, 40)), Failure.CLOSED_BESIDE),
    "above": (log(at((0, 0, 0.1)), straight(STEPS, 0.0), closing=range(20, 40)), Failure.CLOSED_BESIDE),
    "slipped": (log(THING, THING, closing=range(20, 40), held=(range(25, 30),)), Failure.SLIPPED),
    "squeezed": (log(THING, THING, closing=range(20, STEPS), held=(range(25, STEPS),)), Failure.SLIPPED),
    "dropped": (
        log(THING, lifted(THING, 30, 45), closing=range(20, STEPS), held=(range(25, 45),)),
        Failure.DROPPED,
    ),
    "not placed": (
        log(THING, lifted(THING, 30, 65), closing=range(20, STEPS), held=(range(25, STEPS),)),
        Failure.NOT_PLACED,
    ),
    "misplaced": (
        log(THING, lifted(THING, 30, 45), closing=range(20, 44), held=(range(25, 45),)),
        Failure.MISPLACED,
    ),
}


@pytest.mark.parametrize("name", FAILURES)
def test_failures_have_causes(name: str):
    rollout, cause = FAILURES[name]
    assert failure_of(rollout) == cause


def test_a_summary_counts_and_averages():
    rollouts = [
        log(THING, THING, ending="success", seed=1),
        log(at((0.03, 0, 0)), THING, closing=range(20, 40), seed=2, turns_s=(2.5,)),
        log(at((0.01, 0, 0)), THING, closing=range(20, 40), seed=3, turns_s=(3.5, 5.0)),
    ]
    summary = summarise([measure(rollout) for rollout in rollouts])
    assert (summary.success.successes, summary.success.attempts) == (1, 3)
    assert summary.without_turns is not None
    assert summary.with_turns is not None
    assert (summary.without_turns.attempts, summary.with_turns.attempts) == (2, 1)
    assert summary.failures == {Failure.CLOSED_AHEAD: 2}
    assert summary.lead_at_closing_m == pytest.approx(0.02, abs=1e-6)  # of those two that closed
    assert summary.time_to_success_s == pytest.approx(3.2)
    with pytest.raises(DataError, match="no episodes"):
        summarise([])


# --- coverage


def test_the_area_of_known_hulls():
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0.5, 0.5], [0.3, 0.9], [1, 0.5]], dtype=float)
    assert hull_area_m2(square) == pytest.approx(1.0)
    assert coverage(square[[0, 1, 2]], square) == pytest.approx(0.5)
    assert hull_area_m2(square[:2]) == 0.0
    assert hull_area_m2(np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])) == 0.0
    with pytest.raises(DataError, match="no area"):
        coverage(square, square[:2])


@given(st.integers(0, 2**32 - 1), st.integers(4, 60))
def test_the_area_is_scipys(seed: int, count: int):
    points = np.random.default_rng(seed).uniform(-1, 1, (count, 2))
    assert hull_area_m2(points) == pytest.approx(ConvexHull(points).volume)
