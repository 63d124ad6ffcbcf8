"""Linear layers against the mean over the group; representations against rotations."""

from __future__ import annotations

import pytest
import torch

from policies.equivariant.group import (
    ORDER,
    averaged,
    direct_sum,
    equivariant_maps,
    field_matrices,
    matrices,
    trivial,
    turned_fields,
    turned_point,
    turned_rot6d,
)
from sido.errors import SettingError
from sido.policies import EquivariantPolicyConfig, ObservationConfig, build_denoiser
from sido.policies.config import UnetConfig
from sido.policies.equivariant.action_field import ActionField, within_reach
from sido.policies.equivariant.linear import FromFields, ToFields
from sido.policies.equivariant.observer import ImageFeatures, Observer
from sido.policies.equivariant.representation import POSITION, ROT6D, Representation, regular_views, scalars
from sido.policies.equivariant.rotation import orthonormal_rows
from sido.policies.equivariant.state import EquivariantState

ACTION = Representation.beside((POSITION, ROT6D, scalars(1)))


@pytest.mark.parametrize("element", range(ORDER))
def test_numbers_turn_as_what_they_describe(element: int):
    point, rot6d = torch.randn(5, 3), torch.linalg.qr(torch.randn(5, 3, 3))[0][:, :2].flatten(1)
    torch.testing.assert_close(point @ POSITION.turns[element].T, turned_point(point, element))
    torch.testing.assert_close(rot6d @ ROT6D.turns[element].T, turned_rot6d(rot6d, element), atol=1e-5, rtol=1e-5)


def test_turns_are_a_group():
    turns = ACTION.turns
    for one in range(ORDER):
        for other in range(ORDER):
            expected = turns[(one + other) % ORDER]
            torch.testing.assert_close(turns[one] @ turns[other], expected, atol=1e-6, rtol=0)
    assert torch.equal(turns[0], torch.eye(10))
    assert (turns[1] - turns[0]).abs().amax() > 0.2


def test_side_by_side():
    assert Representation.beside(()) == scalars(0)
    assert ACTION.vectors == ((0, 1), (3, 6), (4, 7), (5, 8))
    assert ACTION.scalars == (2, 9)
    with pytest.raises(SettingError, match="not places of different numbers"):
        Representation(4, ((0, 1), (1, 2)))
    with pytest.raises(SettingError, match="not places of different numbers"):
        Representation(2, ((0, 2),))


def dense(layer: torch.nn.Module, size: int) -> torch.Tensor:
    """The matrix of a layer, without its bias."""
    layer = layer.double()
    with torch.no_grad():
        zero = layer(torch.zeros(size, dtype=torch.float64))
        rows = [layer(basis) - zero for basis in torch.eye(size, dtype=torch.float64)]
    return torch.stack([row.flatten() for row in rows], dim=1)


def test_to_fields_is_its_own_average_and_there_is_no_other():
    layer, fields = ToFields(ACTION, 3), field_matrices(3)
    matrix = dense(layer, ACTION.size)
    torch.testing.assert_close(averaged(matrix, matrices(ACTION), fields), matrix, atol=1e-7, rtol=0)
    other = torch.randn_like(matrix)
    assert (averaged(other, matrices(ACTION), fields) - other).abs().amax() > 0.1
    # 2 weights for each vector and field, 1 for each scalar and field: 4 * 2 + 2 = 10.
    assert layer.linear.weight.numel() == equivariant_maps(matrices(ACTION), fields) == 30


def test_from_fields_is_its_own_average_and_there_is_no_other():
    fields = field_matrices(3)
    layer = FromFields(3, ACTION)
    torch.nn.init.normal_(layer.bias)

    class Flat(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = layer

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.layer(x.view(ORDER, 3))

    matrix = dense(Flat(), ORDER * 3)
    torch.testing.assert_close(averaged(matrix, fields, matrices(ACTION)), matrix, atol=1e-7, rtol=0)
    assert layer.linear.weight.numel() == equivariant_maps(fields, matrices(ACTION)) == 30
    bias = layer(torch.zeros(ORDER, 3, dtype=torch.float64))
    for turn in matrices(ACTION):
        torch.testing.assert_close(turn @ bias, bias)
    assert bias[[2, 9]].abs().min() > 0


def test_views_of_fields():
    fields = torch.randn(2, ORDER, 3)
    for element in range(ORDER):
        seen = regular_views(turned_fields(fields, element, dim=1))
        assert torch.equal(seen, regular_views(fields).roll(element, dims=1))
        assert torch.equal(regular_views(fields)[:, element], fields.roll(-element, dims=1))


def observer(fields: int) -> Observer:
    """As equidiff has it, without its encoders: an image's fields, the wrist's scalars, position, rotation, fingers."""
    config = EquivariantPolicyConfig(ObservationConfig("none", offset_features=False), fields=fields)
    state = EquivariantState(config.observation).representation
    made = Observer(config, state)
    made.linear = torch.nn.Linear(state.size + ORDER * fields + fields, fields)
    return made


def test_the_observer_is_its_own_average_and_there_is_no_other():
    n, made = 8, observer(8)
    state = EquivariantState(ObservationConfig("none", offset_features=False)).representation
    assert state.size == 3 + 6 + 2

    class Flat(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.made = made

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            own, turning, carried = x[None, None].split((state.size, ORDER * n, n), dim=-1)
            return self.made(own, ImageFeatures(turning.unflatten(-1, (ORDER, n)), carried))

    into = direct_sum(matrices(state), field_matrices(n), trivial(n))
    matrix = dense(Flat(), state.size + ORDER * n + n)
    torch.testing.assert_close(averaged(matrix, into, field_matrices(n)), matrix, atol=1e-7, rtol=0)
    assert made.linear.weight.numel() == equivariant_maps(into, field_matrices(n))


def test_sizes_are_the_originals():
    """Measured on equidiff: its fusion, and its layers into and out of the action field."""
    assert sum(weight.numel() for weight in observer(128).parameters()) == 148_992
    unet = UnetConfig((8,), time_features=8)
    field = ActionField(ACTION, 64, build_denoiser(unet, horizon=16, action_size=64, condition_size=8))
    assert sum(weight.numel() for weight in field.enter.parameters()) == 704
    assert sum(weight.numel() for weight in field.leave.parameters()) == 642


def test_the_action_field_turns():
    torch.manual_seed(0)
    unet = UnetConfig((16, 32), time_features=16)
    field = ActionField(ACTION, 16, build_denoiser(unet, horizon=16, action_size=16, condition_size=6))
    noisy, time, seen = torch.randn(3, 16, 10), torch.tensor([0.0, 40.0, 99.0]), torch.randn(3, ORDER, 6)
    said = field(noisy, time, seen)
    for element, turn in enumerate(ACTION.turns):
        turned = field(noisy @ turn.T, time, turned_fields(seen, element, dim=1))
        torch.testing.assert_close(turned, said @ turn.T, atol=1e-5, rtol=1e-5)
    assert (field(noisy @ ACTION.turns[1].T, time, seen) - said @ ACTION.turns[1].T).abs().max() > 1e-3


def test_clipping_turns_and_cuts_nothing_that_may_be():
    chunk = 3 * torch.randn(200, 10)
    for turn in ACTION.turns:
        clipped = within_reach(ACTION, chunk @ turn.T)
        torch.testing.assert_close(clipped, within_reach(ACTION, chunk) @ turn.T, atol=1e-5, rtol=0)
    inside = torch.rand(200, 10) * 2 - 1
    torch.testing.assert_close(within_reach(ACTION, inside), inside, atol=1e-7, rtol=1e-6)
    assert within_reach(ACTION, chunk).abs().max() <= 2**0.5 + 1e-6


def test_orthonormal_rows_are_the_nearest_ones_and_turn():
    raw = torch.randn(50, 6, dtype=torch.float64)
    left, _, right = torch.linalg.svd(raw.view(50, 2, 3), full_matrices=False)
    torch.testing.assert_close(orthonormal_rows(raw), (left @ right).flatten(1))
    for element in range(ORDER):
        turned = orthonormal_rows(turned_rot6d(raw, element))
        torch.testing.assert_close(turned, turned_rot6d(orthonormal_rows(raw), element))
