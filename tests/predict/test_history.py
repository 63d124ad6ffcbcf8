"""What comes in from cameras: put in order, or not believed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sido.errors import DataError, SettingError
from sido.predict import Belief, FiniteDifference, History, Hold

STEP_S = 0.05
VELOCITY = np.array([0.02, -0.01, 0.0])


def seen(steps: int = 8) -> tuple[np.ndarray, np.ndarray]:
    """One object, going straight on, seen every 50 ms up to 10.0 s."""
    stamps = 10.0 - STEP_S * np.arange(steps)[::-1]
    return (np.array([0.5, 0.1, 0.02]) + (stamps - 10.0)[:, None] * VELOCITY)[None], stamps[None]


def test_all_good_stays_as_it_is():
    positions, stamps = seen()
    history = History.of(positions, stamps, 10.1)
    assert np.array_equal(history.positions, positions)
    np.testing.assert_allclose(history.age_s, 0.1)
    assert history.count.tolist() == [8]
    assert not history.positions.flags.writeable


def test_what_is_missing_is_left_out_and_the_rest_moves_up():
    positions, stamps = seen()
    positions[0, 2] = np.nan
    stamps[0, 4] = np.inf
    valid = np.ones((1, 8), dtype=bool)
    valid[0, 7] = False
    history = History.of(positions, stamps, 10.0, valid)
    assert history.valid.tolist() == [[False] * 3 + [True] * 5]
    assert np.array_equal(history.positions[0, 3:], positions[0, [0, 1, 3, 5, 6]])
    assert np.array_equal(history.positions[0, :3], positions[0, [0, 0, 0]])
    assert history.age_s == pytest.approx(STEP_S)


def test_time_that_goes_backwards_or_stands_still_is_no_news():
    positions, stamps = seen()
    stamps[0, 3] = stamps[0, 2]
    stamps[0, 6] = stamps[0, 1]
    history = History.of(positions, stamps, 10.0)
    assert np.array_equal(history.positions[0, 2:], positions[0, [0, 1, 2, 4, 5, 7]])


def test_a_clock_that_was_set_back_begins_anew():
    positions, stamps = seen()
    stamps[0, :6] += 3600.0
    assert History.of(positions, stamps, 10.0).count.tolist() == [2]


def test_a_pose_handed_in_twice_counts_once():
    positions, stamps = seen()
    repeated = History.of(np.repeat(positions, 2, axis=1), np.repeat(stamps, 2, axis=1), 10.0)
    assert repeated.count.tolist() == [8]
    assert np.array_equal(repeated.newest(8).positions, positions)


@pytest.mark.parametrize("place", range(8))
def test_one_pose_a_metre_off_changes_nothing_but_itself(place: int):
    positions, stamps = seen()
    without = np.ones((1, 8), dtype=bool)
    without[0, place] = False
    expected = History.of(positions, stamps, 10.0, without)
    positions[0, place] += [0.6, -0.8, 0.0]
    history = History.of(positions, stamps, 10.0)
    assert np.array_equal(history.positions, expected.positions)
    assert np.array_equal(history.valid, expected.valid)


def test_a_jump_is_believed_from_its_second_pose_on():
    positions, stamps = seen()
    jumped = positions.copy()
    jumped[0, 7] += 1.0
    assert np.array_equal(History.of(jumped, stamps, 10.0).latest, positions[:, 6])
    jumped[0, 6] += 1.0
    history = History.of(jumped, stamps, 10.0)
    assert history.count.tolist() == [2]
    np.testing.assert_allclose(history.latest, positions[:, 7] + 1.0)


def test_poses_that_all_contradict_each_other_leave_the_oldest():
    positions, stamps = seen(4)
    positions[0] += np.arange(4)[:, None] * 1.0
    history = History.of(positions, stamps, 10.0)
    assert history.count.tolist() == [1]
    assert np.array_equal(history.latest, positions[:, 0])


def test_after_two_seconds_without_a_pose_the_object_rests_where_it_was():
    positions, stamps = seen()
    history = History.of(positions, stamps, 12.0)
    assert history.count.tolist() == [1]
    answer = FiniteDifference(0.02)(history, 0.8)
    assert np.array_equal(answer.positions, positions[:, -1])


def test_before_two_seconds_without_a_pose_nothing_is_remembered():
    positions, stamps = seen()
    stamps[0, :5] -= 2.0
    assert History.of(positions, stamps, 10.0).count.tolist() == [3]


def test_never_seen_is_not_a_number():
    positions, stamps = seen()
    answer = Hold()(History.of(np.full_like(positions, np.nan), stamps, 10.0), 0.8)
    assert np.isnan(answer.positions).all()
    assert answer.seen.tolist() == [False]


@given(st.data())
def test_whatever_comes_in_the_answer_is_near(data: st.DataObject):
    """Any numbers at all: the forecast is within reach of some pose that was seen, or says that there is none."""
    numbers = st.floats(allow_nan=True, allow_infinity=True, width=32) | st.floats(-1.0, 1.0)
    steps = data.draw(st.integers(1, 6))
    positions = np.array(data.draw(st.lists(numbers, min_size=3 * steps, max_size=3 * steps))).reshape(1, steps, 3)
    stamps = np.array(data.draw(st.lists(numbers, min_size=steps, max_size=steps)))[None]
    history = History.of(positions, stamps, 0.0)
    answer = FiniteDifference()(history, 0.8)
    if history.count[0] == 0:
        assert not answer.seen[0]
        return
    assert 0.0 - Belief().clock_tolerance_s <= history.age_s[0]
    assert (history.latest[0] == positions[0]).all(axis=-1).any()
    reach = history.highest_speed_mps * (max(history.age_s[0], 0.0) + 0.8)
    away = np.linalg.norm(answer.positions[0] - history.latest[0])
    assert away <= reach * (1 + 1e-9) + 1e-6 * np.abs(history.latest).max() + 1e-9
    if history.count[0] == 1:
        assert away == 0.0


@pytest.mark.usefixtures("as_user")
def test_messages():
    positions, stamps = seen()
    with pytest.raises(DataError, match=r"stamps_s: does not fit the positions; found \(1, 7\); expected \(1, 8\)"):
        History.of(positions, stamps[:, 1:], 10.0)
    with pytest.raises(DataError, match=r"positions: not histories of positions; found \(1, 8, 2\)"):
        History.of(positions[..., :2], stamps, 10.0)
    with pytest.raises(DataError, match="now_s: not a time"):
        History.of(positions, stamps, float("nan"))
    with pytest.raises(SettingError, match=r"Belief\.slack_m: not a usable number; found 0\.0"):
        Belief(slack_m=0.0)
    for horizon in (-0.1, float("nan"), np.ones(3)):
        with pytest.raises(SettingError, match="horizon_s: not a horizon"):
            Hold()(History.of(positions, stamps, 10.0), horizon)
