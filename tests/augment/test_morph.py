from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from torch import Tensor

from sido.augment.morph import EPSILON_M, morph_absolute, morph_relative, path_shares
from sido.errors import DataError, SettingError

SIZE, WIDTH = 3, 7
numbers = st.floats(-10.0, 10.0)
deltas = arrays(np.float64, (SIZE, 3), elements=st.floats(-1.0, 1.0)).map(torch.from_numpy)
scales = st.floats(0.01, 2.0)
headings = st.floats(-math.pi, math.pi)
DTYPES = [torch.float64, torch.float32, torch.float16, torch.bfloat16]


@st.composite
def chunks(draw: st.DrawFn) -> tuple[Tensor, int]:
    """A chunk of any numbers, signed zeros and subnormals among them, and an action horizon that fits it."""
    horizon = draw(st.integers(2, 9))
    chunk = draw(arrays(np.float64, (SIZE, horizon, WIDTH), elements=numbers))
    return torch.from_numpy(chunk), draw(st.integers(2, horizon))


def bits(tensor: Tensor) -> bytes:
    return tensor.contiguous().view(torch.uint8).numpy().tobytes()


def path(increments: Tensor) -> Tensor:
    return increments[..., :3].cumsum(1)


def about_z(angle: float) -> Tensor:
    cos, sin = math.cos(angle), math.sin(angle)
    return torch.tensor([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]], dtype=torch.float64)


def turned(tensor: Tensor, rotation: Tensor) -> Tensor:
    return torch.cat([tensor[..., :3] @ rotation.T, tensor[..., 3:]], dim=-1)


# --- the slow obvious loops: the paper's formulas, one number at a time -----------------------------------------------


def slow_absolute(chunk: Tensor, delta: Tensor, action_horizon: int) -> Tensor:
    rows = chunk.double().tolist()
    for row, shift in zip(rows, delta.double().tolist(), strict=True):
        for k, action in enumerate(row):
            rho = min(k, action_horizon - 1) / (action_horizon - 1)
            for axis in range(3):
                action[axis] += rho * shift[axis]
    return torch.tensor(rows, dtype=torch.float64)


def slow_relative(chunk: Tensor, delta: Tensor, action_horizon: int, metres_per_unit: float, gain: float) -> Tensor:
    rows = chunk.double().tolist()
    for row, shift in zip(rows, delta.double().tolist(), strict=True):
        waypoints, lengths = [[0.0, 0.0, 0.0]], [0.0]
        for action in row:
            waypoints.append([waypoints[-1][axis] + metres_per_unit * action[axis] for axis in range(3)])
            lengths.append(lengths[-1] + metres_per_unit * math.hypot(*action[:3]))
        if lengths[action_horizon] < EPSILON_M:
            continue
        for k, waypoint in enumerate(waypoints):
            rho = min(lengths[k] / lengths[action_horizon], 1.0)
            for axis in range(3):
                waypoint[axis] += rho * shift[axis] / gain
        for k, action in enumerate(row):
            for axis in range(3):
                action[axis] = (waypoints[k + 1][axis] - waypoints[k][axis]) / metres_per_unit
    return torch.tensor(rows, dtype=torch.float64)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("action_horizon", [2, 8, 16])
def test_agrees_with_the_slow_loop_in_every_type(dtype: torch.dtype, action_horizon: int) -> None:
    rng = torch.Generator().manual_seed(action_horizon)
    chunk = torch.randn(50, 16, 10, generator=rng).to(dtype)
    delta = torch.randn(50, 3, generator=rng).to(dtype)
    chunk[7, :, :3] = 0.0  # a hand that stands still
    # Values reach 8 and are rounded once, at the very end; in float64 it is the loop's running sum that rounds.
    tolerance = {"rtol": 0.0, "atol": max(8 * torch.finfo(dtype).eps, 1e-13)}

    absolute = morph_absolute(chunk, delta, action_horizon)
    assert absolute.dtype == dtype
    torch.testing.assert_close(absolute.double(), slow_absolute(chunk, delta, action_horizon), **tolerance)

    relative = morph_relative(chunk, delta, action_horizon, metres_per_unit=0.05, gain=4.0)
    assert relative.dtype == dtype
    torch.testing.assert_close(relative.double(), slow_relative(chunk, delta, action_horizon, 0.05, 4.0), **tolerance)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision_is_rounded_once_at_the_end(dtype: torch.dtype) -> None:
    """The exact result, rounded: sums and shares in half precision would miss it in a tenth of the entries."""
    rng = torch.Generator().manual_seed(0)
    chunk, delta = (torch.randn(shape, generator=rng).to(dtype) for shape in ((200, 16, 4), (200, 3)))
    absolute = morph_absolute(chunk, delta, 8) == slow_absolute(chunk, delta, 8).to(dtype)
    assert absolute.double().mean() > 0.998
    relative = morph_relative(chunk, delta, 8, metres_per_unit=0.05) == slow_relative(chunk, delta, 8, 0.05, 1.0).to(
        dtype
    )
    assert relative.double().mean() > 0.998


# --- the invariant ----------------------------------------------------------------------------------------------------


@given(chunks(), deltas)
def test_absolute_moves_both_horizons_by_delta(chunk_and_horizon: tuple[Tensor, int], delta: Tensor) -> None:
    chunk, action_horizon = chunk_and_horizon
    shift = (morph_absolute(chunk, delta, action_horizon) - chunk)[..., :3]
    torch.testing.assert_close(shift[:, action_horizon - 1], delta, rtol=0, atol=1e-9)
    torch.testing.assert_close(shift[:, -1], delta, rtol=0, atol=1e-9)


@given(chunks(), deltas, scales, scales)
def test_relative_moves_both_horizons_by_delta(
    chunk_and_horizon: tuple[Tensor, int], delta: Tensor, metres_per_unit: float, gain: float
) -> None:
    chunk, action_horizon = chunk_and_horizon
    morphed = morph_relative(chunk, delta, action_horizon, metres_per_unit=metres_per_unit, gain=gain)
    shift = (path(morphed) - path(chunk)) * (metres_per_unit * gain)
    moved = path_shares(chunk, action_horizon, metres_per_unit=metres_per_unit).bends
    expected = torch.where(moved[:, None], delta, 0.0)
    torch.testing.assert_close(shift[:, action_horizon - 1], expected, rtol=0, atol=1e-9)
    torch.testing.assert_close(shift[:, -1], expected, rtol=0, atol=1e-9)


@given(chunks(), deltas)
def test_absolute_leaves_the_first_waypoint_where_it_is(chunk_and_horizon: tuple[Tensor, int], delta: Tensor) -> None:
    chunk, action_horizon = chunk_and_horizon
    assert bits(morph_absolute(chunk, delta, action_horizon)[:, 0]) == bits(chunk[:, 0])


@given(chunks(), deltas)
def test_relative_leaves_what_comes_after_the_action_horizon(
    chunk_and_horizon: tuple[Tensor, int], delta: Tensor
) -> None:
    chunk, action_horizon = chunk_and_horizon
    morphed = morph_relative(chunk, delta, action_horizon, metres_per_unit=0.05)
    assert bits(morphed[:, action_horizon:]) == bits(chunk[:, action_horizon:])


@given(chunks(), deltas)
def test_rotation_and_gripper_pass_bit_for_bit_and_nothing_is_written_to(
    chunk_and_horizon: tuple[Tensor, int], delta: Tensor
) -> None:
    chunk, action_horizon = chunk_and_horizon
    chunk[0, 0, 3] = math.nan  # even this is not ours to touch
    before, delta_before = bits(chunk), bits(delta)
    for morphed in (
        morph_absolute(chunk, delta, action_horizon),
        morph_relative(chunk, delta, action_horizon, metres_per_unit=0.05),
    ):
        assert bits(morphed[..., 3:]) == bits(chunk[..., 3:])
        assert morphed.data_ptr() != chunk.data_ptr()
    assert bits(chunk) == before
    assert bits(delta) == delta_before


@pytest.mark.parametrize("zero", [0.0, -0.0])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@given(chunk_and_horizon=chunks())
def test_no_displacement_is_no_change_to_the_bit(
    dtype: torch.dtype, zero: float, chunk_and_horizon: tuple[Tensor, int]
) -> None:
    chunk, action_horizon = chunk_and_horizon[0].to(dtype), chunk_and_horizon[1]
    chunk[0, 1:, :3] = -0.0  # x + 0.0 would lose this sign
    delta = torch.full((SIZE, 3), zero, dtype=dtype)
    assert bits(morph_absolute(chunk, delta, action_horizon)) == bits(chunk)
    assert bits(morph_relative(chunk, delta, action_horizon, metres_per_unit=0.05)) == bits(chunk)


@given(arrays(np.float64, (SIZE, 6, WIDTH), elements=numbers), deltas)
def test_a_path_without_length_is_kept_to_the_bit(array: np.ndarray, delta: Tensor) -> None:
    chunk = torch.from_numpy(array)
    chunk[:, :4, :3] *= 1e-9  # at most 4 x 17 nm of path, signed zeros among it; what follows T_a = 4 is long
    assert not path_shares(chunk, 4, metres_per_unit=1.0).bends.any()
    assert bits(morph_relative(chunk, delta, 4, metres_per_unit=1.0)) == bits(chunk)


def test_epsilon_is_in_metres_and_the_rule_is_strict() -> None:
    chunk = torch.zeros(1, 4, 4, dtype=torch.float64)
    chunk[0, 0, 0] = 2.0**-10
    delta = torch.ones(1, 3, dtype=torch.float64)
    at, below = {"epsilon_m": 2.0**-12}, {"epsilon_m": 2.0**-12 * (1 + 1e-12)}
    for settings, bends in ((at, True), (below, False)):
        assert path_shares(chunk, 4, metres_per_unit=0.25, **settings).bends.item() is bends
        assert morph_relative(chunk, delta, 4, metres_per_unit=0.25, **settings).equal(chunk) is not bends


# --- symmetry, shape, gradient ----------------------------------------------------------------------------------------


@given(chunks(), deltas, headings, arrays(np.float64, 3, elements=numbers).map(torch.from_numpy))
def test_absolute_commutes_with_rigid_motion_of_the_world(
    chunk_and_horizon: tuple[Tensor, int], delta: Tensor, heading: float, shift: Tensor
) -> None:
    chunk, action_horizon = chunk_and_horizon
    rotation = about_z(heading)

    def elsewhere(actions: Tensor) -> Tensor:
        moved = turned(actions, rotation)
        moved[..., :3] += shift
        return moved

    there = morph_absolute(elsewhere(chunk), delta @ rotation.T, action_horizon)
    torch.testing.assert_close(there, elsewhere(morph_absolute(chunk, delta, action_horizon)), rtol=0, atol=1e-12)


@given(chunks(), deltas, headings)
def test_relative_commutes_with_rotation_of_the_world(
    chunk_and_horizon: tuple[Tensor, int], delta: Tensor, heading: float
) -> None:
    chunk, action_horizon = chunk_and_horizon
    chunk[:, 0, 0] += 20.0  # well clear of epsilon, which rounding could cross
    rotation = about_z(heading)
    there = morph_relative(turned(chunk, rotation), delta @ rotation.T, action_horizon, metres_per_unit=0.05)
    here = morph_relative(chunk, delta, action_horizon, metres_per_unit=0.05)
    torch.testing.assert_close(there, turned(here, rotation), rtol=0, atol=1e-11)


@given(chunks(), st.floats(0.1, 10.0), deltas)
def test_relative_ramps_by_arc_length_whatever_the_unit(
    chunk_and_horizon: tuple[Tensor, int], scale: float, delta: Tensor
) -> None:
    """The same path in other units is morphed to the same path in those units."""
    chunk, action_horizon = chunk_and_horizon
    chunk[:, 0, 0] += 20.0
    rescaled = torch.cat([chunk[..., :3] * scale, chunk[..., 3:]], dim=-1)
    there = morph_relative(rescaled, delta, action_horizon, metres_per_unit=0.05 / scale)[..., :3] / scale
    here = morph_relative(chunk, delta, action_horizon, metres_per_unit=0.05)[..., :3]
    torch.testing.assert_close(there, here, rtol=1e-12, atol=1e-11)


@given(deltas, st.floats(0.05, 1.0))
def test_gain_scales_the_commanded_shift(delta: Tensor, gain: float) -> None:
    chunk = torch.ones(SIZE, 8, WIDTH, dtype=torch.float64)
    literal = morph_relative(chunk, delta, 8, metres_per_unit=0.05) - chunk
    calibrated = morph_relative(chunk, delta, 8, metres_per_unit=0.05, gain=gain) - chunk
    torch.testing.assert_close(calibrated * gain, literal, rtol=0, atol=1e-12)


@pytest.mark.parametrize("delta_zero", [False, True])
def test_differentiable_in_chunk_and_delta_against_finite_differences(delta_zero: bool) -> None:
    rng = torch.Generator().manual_seed(1)
    chunk = torch.randn(3, 5, 4, generator=rng, dtype=torch.float64, requires_grad=True)
    delta = torch.randn(3, 3, generator=rng, dtype=torch.float64) * (not delta_zero)
    delta.requires_grad_()
    assert torch.autograd.gradcheck(lambda c, d: morph_absolute(c, d, 3), (chunk, delta))
    assert torch.autograd.gradcheck(lambda c, d: morph_relative(c, d, 3, metres_per_unit=0.1), (chunk, delta))


def test_a_still_row_does_not_poison_the_gradient_of_the_others() -> None:
    chunk = torch.ones(2, 4, 4)
    chunk[0] = 0.0
    chunk.requires_grad_()
    morph_relative(chunk, torch.ones(2, 3), 4, metres_per_unit=0.05).square().sum().backward()
    assert chunk.grad is not None
    assert chunk.grad.isfinite().all()


def test_runs_wholly_on_the_device_of_its_arguments() -> None:
    """The meta device refuses any tensor that was left on the CPU, as a GPU would."""
    chunk, delta = torch.empty(2, 16, 7, device="meta"), torch.empty(2, 3, device="meta")
    assert morph_absolute(chunk, delta, 8).device.type == "meta"
    assert morph_relative(chunk, delta, 8, metres_per_unit=0.05).device.type == "meta"


def test_an_empty_batch_is_no_special_case() -> None:
    chunk, delta = torch.empty(0, 16, 7), torch.empty(0, 3)
    assert morph_absolute(chunk, delta, 8).shape == (0, 16, 7)
    assert morph_relative(chunk, delta, 8, metres_per_unit=0.05).shape == (0, 16, 7)


# --- refusals ---------------------------------------------------------------------------------------------------------

GOOD = torch.zeros(2, 16, 7)


@pytest.mark.usefixtures("as_user")
@pytest.mark.parametrize(
    ("chunk", "delta", "complaint"),
    [
        (GOOD[0], torch.zeros(2, 3), "chunk: wrong shape; found [16, 7]; expected [B, H, A], A at least 3"),
        (GOOD[..., :2], torch.zeros(2, 3), "chunk: wrong shape; found [2, 16, 2]; expected [B, H, A], A at least 3"),
        (GOOD, torch.zeros(3, 3), "delta: wrong shape; found [3, 3]; expected [2, 3]"),
        (GOOD, torch.zeros(3), "delta: wrong shape; found [3]; expected [2, 3]"),
        (GOOD.int(), torch.zeros(2, 3), "chunk: not floating point; found torch.int32; expected a float tensor"),
        (GOOD, torch.zeros(2, 3).long(), "delta: not floating point; found torch.int64; expected a float tensor"),
        (GOOD.numpy(), torch.zeros(2, 3), "chunk: not a tensor; found ndarray; expected a float tensor"),
        (GOOD, [[0.0] * 3] * 2, "delta: not a tensor; found list; expected a float tensor"),
        (GOOD, torch.zeros(2, 3, device="meta"), "delta: on another device than the chunk; found meta; expected cpu"),
    ],
)
def test_refuses_tensors_that_do_not_fit(chunk: Tensor, delta: Tensor, complaint: str) -> None:
    for morph in (
        lambda: morph_absolute(chunk, delta, 8),
        lambda: morph_relative(chunk, delta, 8, metres_per_unit=0.05),
    ):
        with pytest.raises(DataError) as caught:
            morph()
        assert str(caught.value) == complaint


def test_refuses_horizons_that_do_not_fit() -> None:
    delta = torch.zeros(2, 3)
    for action_horizon in (-1, 0, 1, 17):
        with pytest.raises(SettingError, match=rf"action_horizon: .* found {action_horizon}; expected 2 to 16"):
            morph_absolute(GOOD, delta, action_horizon)
    for action_horizon in (0, 17):
        with pytest.raises(SettingError, match=rf"action_horizon: .* found {action_horizon}; expected 1 to 16"):
            morph_relative(GOOD, delta, action_horizon, metres_per_unit=0.05)


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf])
@pytest.mark.parametrize("name", ["gain", "metres_per_unit", "epsilon_m"])
def test_refuses_scales_that_are_none(name: str, value: float) -> None:
    with pytest.raises(SettingError, match=f"{name}: not a usable number; found {value}"):
        morph_relative(GOOD, torch.zeros(2, 3), 8, **{"metres_per_unit": 0.05, name: value})
