"""Normalisation: the range of the data, one for all positions, undone exactly."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from memory_source import memory_dataset, synthetic_demos
from sido import ChunkSampler
from sido.demos import ACTION_SPECS, ActionSpec
from sido.errors import SettingError
from sido.policies import Normaliser, ObservationConfig, Statistics

ABSOLUTE, RELATIVE = ACTION_SPECS["osc-absolute"], ACTION_SPECS["osc-delta"]
SEEING = ObservationConfig(landmarks=("cubeB",))
THREE = st.tuples(*[st.floats(-0.75, 0.75, width=32)] * 3)


def statistics(
    low: tuple[float, ...] = (0.4, -0.2, 0.0),
    high: tuple[float, ...] = (0.7, 0.3, 0.3),
    action_high: tuple[float, ...] = (0.8, 0.4, 0.2),
    cube_low: tuple[float, ...] = (0.5, -0.1, -0.05),
) -> Statistics:
    def ends(low: tuple[float, ...], high: tuple[float, ...]) -> tuple[torch.Tensor, torch.Tensor]:
        low_, high_ = torch.tensor(low), torch.tensor(high)
        return torch.minimum(low_, high_), torch.maximum(low_, high_)

    return Statistics(
        {
            "eef_position": ends(low, high),
            "eef_rot6d": (-0.3 * torch.ones(6), 0.7 * torch.ones(6)),
            "gripper": ends((0.0, -0.04), (0.04, 0.0)),
            "object_position": ends((0.45, -0.15, 0.0), (0.65, 0.15, 0.2)),
            "landmark.cubeB": ends(cube_low, cube_low),
            "actions": ends((*low, 3.0, 0.0, 0.0, -1.0), (*action_high, 3.2, 0.0, 0.0, 1.0)),
        }
    )


def fitted(spec: ActionSpec = ABSOLUTE, *, symmetric: bool = False, **ranges: tuple[float, ...]) -> Normaliser:
    return Normaliser(SEEING, spec).fit(statistics(**ranges), symmetric=symmetric)


@given(low=THREE, high=THREE, action_high=THREE, cube_low=THREE, symmetric=st.booleans())
def test_everything_is_within_the_range_and_comes_back(low, high, action_high, cube_low, symmetric: bool):
    ranges = statistics(low, high, action_high, cube_low)
    normaliser = Normaliser(SEEING, ABSOLUTE).fit(ranges, symmetric=symmetric)
    for name, ends in ranges.ranges.items():
        for end in ends:
            seen = torch.cat([end[:3], torch.zeros(6), end[-1:]]) if name == "actions" else end
            there = normaliser.normalise(name, seen)
            assert there.abs().max() <= 1 + 1e-4
            torch.testing.assert_close(normaliser.denormalise(name, there), seen, rtol=0, atol=1e-6)


def test_the_ends_of_the_positions_are_the_ends_of_the_range():
    normaliser = fitted()
    at_ends = normaliser.normalise("eef_position", torch.tensor([[0.4, -0.2, -0.05], [0.8, 0.4, 0.3]]))
    torch.testing.assert_close(at_ends, torch.tensor([[-1.0, -1.0, -1.0], [1.0, 1.0, 1.0]]))
    fingers = normaliser.normalise("gripper", torch.tensor([[0.0, -0.04], [0.04, 0.0]]))
    torch.testing.assert_close(fingers, torch.tensor([[-1.0, -1.0], [1.0, 1.0]]))


@pytest.mark.parametrize("symmetric", [False, True])
def test_a_difference_of_positions_is_a_way_whatever_they_are_of(symmetric: bool):
    normaliser = fitted(symmetric=symmetric)
    names = ("eef_position", "object_position", "landmark.cubeB")
    rows = [
        (normaliser.scale[normaliser._columns[name]], normaliser.offset[normaliser._columns[name]]) for name in names
    ]
    goals = normaliser._columns["actions"].start
    rows.append((normaliser.scale[goals : goals + 3], normaliser.offset[goals : goals + 3]))
    for scale, offset in rows:
        assert torch.equal(scale, rows[0][0])
        assert torch.equal(offset, rows[0][1])


def test_rotations_stay_and_the_gripper_follows_its_spec():
    opened = ActionSpec("absolute", gripper_open=0.0, gripper_closed=255.0)
    chunk = torch.tensor([[0.5, 0.0, 0.1, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.0], [0.5, 0.0, 0.1] + [-1.0] * 6 + [255.0]])
    there = fitted(opened).normalise("actions", chunk)
    torch.testing.assert_close(there[:, 3:9], chunk[:, 3:9])
    assert there[:, 9].tolist() == [-1.0, 1.0]
    six = torch.linspace(-1, 1, 6)
    assert torch.equal(fitted().normalise("eef_rot6d", six), six)


def test_increments_have_a_range_of_their_own():
    normaliser = fitted(RELATIVE, low=(-0.4, -0.2, 0.0), action_high=(0.8, 0.2, 0.5))
    there = normaliser.normalise("actions", torch.tensor([0.8, 0.2, 0.5, 0.3, -0.4, 1.0, 1.0]))
    torch.testing.assert_close(there, torch.tensor([1.0, 1.0, 1.0, 0.3, -0.4, 1.0, 1.0]))


def test_goals_in_another_frame_have_a_range_of_their_own():
    world = ActionSpec("absolute", frame="world")
    normaliser = fitted(world, action_high=(5.0, 5.0, 5.0))
    assert normaliser.normalise("actions", torch.tensor([5.0, 5.0, 5.0, *[0.0] * 6, 0.0]))[0] == pytest.approx(1.0)
    assert normaliser.normalise("eef_position", torch.tensor([0.7, 0.3, 0.3]))[0] == pytest.approx(1.0)


@pytest.mark.parametrize("axis", [(0.0, 0.0), (0.56, -0.1)])
def test_symmetric_turns_about_the_axis(axis: tuple[float, float]):
    """A quarter about the axis, before or after: the same."""
    normaliser = Normaliser(SEEING, ABSOLUTE).fit(statistics(), symmetric=True, axis_m=axis)
    foot, point = torch.tensor([*axis, 0.0]), torch.tensor([0.5, -0.1, 0.2])
    quarter = torch.tensor([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    torch.testing.assert_close(
        normaliser.normalise("object_position", quarter @ (point - foot) + foot),
        quarter @ normaliser.normalise("object_position", point),
    )


def test_symmetric_about_the_base_or_about_the_middle():
    about_base = Normaliser(SEEING, ABSOLUTE).fit(statistics(), symmetric=True, axis_m=(0.0, 0.0))
    assert about_base.normalise("object_position", torch.tensor([0.8, 0.0, 0.0]))[0] == pytest.approx(1.0)
    middle = fitted(symmetric=True)
    ranges = fitted()
    point = (torch.tensor([0.0, 0.0, 0.0]) - ranges.offset[:3]) / ranges.scale[:3]
    torch.testing.assert_close(middle.normalise("eef_position", point), torch.zeros(3), atol=1e-6, rtol=0)
    assert middle.scale[0] == middle.scale[1] == ranges.scale[:2].min()


def test_increments_turn_about_zero_wherever_the_axis_is():
    normaliser = Normaliser(SEEING, RELATIVE).fit(statistics(), symmetric=True, axis_m=(0.56, -0.1))
    assert torch.equal(normaliser.normalise("actions", torch.zeros(7))[:2], torch.zeros(2))


def test_what_hardly_moves_is_not_blown_up():
    flat = Normaliser(ObservationConfig("none"), RELATIVE).fit(
        statistics(low=(0.5, 0.1, 0.1), high=(0.5, 0.1, 0.1001), action_high=(0.5, 0.1, 0.1))
    )
    moved = flat.normalise("eef_position", torch.tensor([0.503, 0.1, 0.1]))
    assert moved.abs().max() <= 0.31  # 3 mm of noise
    assert flat.normalise("actions", torch.tensor([0.5, 0.1, 0.1, 0.0, 0.0, 0.0, 1.0]))[:3].abs().max() < 1e-5


def test_counterfactuals_stay_inside():
    """Statistics are widened by the longest displacement, so that nothing displaced is beyond the range."""
    sampler = ChunkSampler(memory_dataset(synthetic_demos(4, spec=ABSOLUTE)))
    reach = 0.05
    observation = ObservationConfig()
    normaliser = Normaliser(observation, ABSOLUTE).fit(Statistics.fit(sampler, longest_displacement_m=reach))
    for name, columns in (("object_position", slice(0, 3)), ("actions", slice(0, 3))):
        numbers = sampler.numbers[name][:, columns]
        for shift in ([reach, 0, 0], [-reach, 0, 0], [0, reach, 0], [0, -reach, 0]):
            there = (numbers + torch.tensor(shift)) * normaliser.scale[:3] + normaliser.offset[:3]
            assert there.abs().max() <= 1 + 1e-4, name


def test_an_unfitted_one_says_nothing_but_nan_until_a_state_dict_is_loaded():
    fresh = Normaliser(SEEING, ABSOLUTE)
    assert fresh.normalise("gripper", torch.zeros(2)).isnan().all()
    fresh.load_state_dict(fitted().state_dict())
    assert torch.equal(fresh.scale, fitted().scale)


@pytest.mark.usefixtures("as_user")
def test_data_that_do_not_have_what_the_policy_sees():
    without = Statistics({name: ends for name, ends in statistics().ranges.items() if name != "landmark.cubeB"})
    with pytest.raises(SettingError, match=r"the policy sees what the data do not have.*expected 'landmark.cubeB'"):
        Normaliser(SEEING, ABSOLUTE).fit(without)
    with pytest.raises(SettingError, match=r"gripper: the data have another size.*found 2; expected 6"):
        Normaliser(ObservationConfig(gripper_joints=6), ABSOLUTE).fit(statistics())
