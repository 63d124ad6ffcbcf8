from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sido.demos import ACTION_SPECS, ActionSpec, action_spec
from sido.errors import DataError, SettingError

positive = st.floats(1e-6, 1e3)
specs = st.builds(
    ActionSpec,
    kind=st.just("absolute"),
    rotation=st.sampled_from(["axis_angle", "rot6d", "quat_wxyz", "euler_xyz", "none"]),
    frame=st.sampled_from(["base", "world"]),
    position_scale_m=positive,
    rotation_scale_rad=positive,
    gripper_open=st.floats(-2, -0.1),
    gripper_closed=st.floats(0.1, 2),
    rate_hz=positive,
)


@given(specs)
def test_json_is_the_identity(spec: ActionSpec):
    in_tool = dataclasses.replace(spec, kind="relative", rotation="axis_angle", frame="tool")
    for each in (spec, in_tool):
        assert ActionSpec.from_json(each.to_json()) == each


@pytest.mark.parametrize(("name", "dim"), [("osc-delta", 7), ("osc-absolute", 7), ("rot6d-absolute", 10), ("droid", 7)])
def test_presets(name: str, dim: int):
    spec = ACTION_SPECS[name]
    assert action_spec(name) is spec
    assert spec.dim == dim
    assert spec.rotation_slice == slice(3, dim - 1)
    assert action_spec(spec.to_json()) == spec


@pytest.mark.parametrize(("opened", "closed"), [(-1.0, 1.0), (0.0, 1.0), (1.0, 0.0), (1.0, -1.0)])
def test_closes_whatever_the_sign_and_range(opened: float, closed: float):
    spec = ActionSpec("absolute", rotation="none", gripper_open=opened, gripper_closed=closed)
    commands = np.linspace(opened, closed, 9)
    actions = np.concatenate([np.zeros((9, 3)), commands[:, None]], axis=1)
    assert spec.closes(actions).tolist() == [False] * 5 + [True] * 4
    assert spec.gripper_range == (min(opened, closed), max(opened, closed))


def test_a_mismatch_names_both_values():
    recorded = ACTION_SPECS["osc-delta"]
    robot = dataclasses.replace(recorded, rate_hz=15.0, kind="absolute")
    recorded.require_same(recorded, here="a", there="b")
    with pytest.raises(DataError) as raised:
        recorded.require_same(robot, here="the dataset", there="the robot")
    assert str(raised.value) == (
        "kind, rate_hz: the action specs of the dataset and the robot differ; found kind='relative' (the dataset), "
        "'absolute' (the robot), rate_hz=20.0 (the dataset), 15.0 (the robot); to mend it: convert the dataset, or use "
        "the policy with the robot that it was trained for"
    )


@pytest.mark.usefixtures("as_user")
@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"kind": "sideways"}, "ActionSpec.kind"),
        ({"kind": "absolute", "rotation": "gimbal"}, "ActionSpec.rotation"),
        ({"kind": "relative", "rotation": "rot6d"}, "increment"),
        (
            {"kind": "absolute", "frame": "tool"},
            r"frame: a goal .* found 'tool'; expected 'base' or 'world'",
        ),
        ({"kind": "absolute", "rate_hz": 0.0}, "ActionSpec.rate_hz"),
        ({"kind": "absolute", "position_scale_m": float("nan")}, "ActionSpec.position_scale_m"),
        ({"kind": "absolute", "gripper_open": 1.0}, "must differ"),
        ({"kind": "absolute", "gripper_open": float("inf")}, "finite"),
    ],
)
def test_nonsense_is_refused(fields: dict, word: str):
    with pytest.raises(SettingError, match=word):
        ActionSpec(**fields)


@pytest.mark.parametrize("text", ["{", '{"kind": "absolute", "colour": 3}', "{}", '{"rate_hz": 20}'])
def test_damaged_json_is_refused(text: str):
    with pytest.raises(DataError, match="ActionSpec"):
        action_spec(text)


def test_an_unknown_name_lists_the_known():
    with pytest.raises(SettingError, match="osc-delta, osc-absolute, rot6d-absolute, droid"):
        action_spec("osc")
