"""What a network sees of actions, and the way back."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sido.demos import ActionSpec
from sido.demos.absolute import rotation_of_quat
from sido.errors import DataError
from sido.geometry import matrix_from_quat, quat_from_axis_angle, rot6d_from_matrix
from sido.policies import ActionForm

FORMS = ["axis_angle", "quat_wxyz", "euler_xyz", "rot6d"]
ANGLES = st.sampled_from([0.0, 1e-9, 1e-4, 0.5, np.pi - 1e-5, np.pi]) | st.floats(0, np.pi)
AXES = st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda axis: np.linalg.norm(axis) > 0.1)


def turned(axis: tuple[float, float, float], angle: float) -> np.ndarray:
    return quat_from_axis_angle(np.array([axis]) / np.linalg.norm(axis) * angle)


@pytest.mark.parametrize("form", FORMS)
@given(axis=AXES, angle=ANGLES)
def test_rotations_become_the_first_two_rows_and_come_back(form, axis: tuple[float, float, float], angle: float):
    quat = turned(axis, angle)
    rows = rot6d_from_matrix(matrix_from_quat(quat))
    actions = np.concatenate([[[0.5, 0.1, 0.2]], rotation_of_quat(quat, form), [[-1.0]]], axis=1)
    action_form = ActionForm(ActionSpec("absolute", rotation=form))
    seen = action_form.encode(torch.from_numpy(actions))
    assert seen.shape == (1, action_form.size) == (1, 10)
    np.testing.assert_allclose(seen[:, 3:9], rows, rtol=0, atol=1e-9)
    back = action_form.decode(seen)
    assert back.shape == actions.shape
    np.testing.assert_allclose(action_form.encode(back), seen, rtol=0, atol=1e-7)
    np.testing.assert_allclose(back[:, [0, 1, 2, -1]], actions[:, [0, 1, 2, -1]], rtol=0, atol=0)


@pytest.mark.parametrize("spec", [ActionSpec("relative"), ActionSpec("absolute", rotation="none")])
def test_other_actions_are_seen_as_they_are(spec: ActionSpec):
    action_form = ActionForm(spec)
    actions = torch.randn(2, 5, spec.dim)
    assert action_form.size == spec.dim
    assert torch.equal(action_form.encode(actions), actions)
    assert torch.equal(action_form.decode(actions), actions)


def test_a_network_that_is_not_quite_right_says_a_rotation_all_the_same():
    action_form = ActionForm(ActionSpec("absolute", rotation="quat_wxyz"))
    seen = torch.tensor([0.0, 0.0, 0.0, 1.7, 0.1, 0.0, 0.2, -0.4, 0.1, 0.3]).expand(2, 3, 10)
    said = action_form.decode(seen)
    assert said.shape == (2, 3, 8)
    torch.testing.assert_close(torch.linalg.vector_norm(said[..., 3:7], dim=-1), torch.ones(2, 3))


def test_what_spans_no_rotation_is_refused():
    action_form = ActionForm(ActionSpec("absolute"))
    with pytest.raises(DataError, match="rot6d: a row is no direction"):
        action_form.decode(torch.full((1, 10), torch.nan))
