"""What `env_args` says of the actions, in both styles of robosuite."""

from __future__ import annotations

import json

import pytest

from demos.robomimic.raw_file import OSC_1_4, env_args, with_controller
from sido.demos.action_spec import ActionSpec
from sido.demos.robomimic.env_args import env_args_of, is_release_1_5, parse_env_args
from sido.demos.source import DatasetInfo, Environment

RELATIVE = ActionSpec("relative", frame="base", position_scale_m=0.05, rotation_scale_rad=0.5)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (env_args("Stack_D0", "1.4.1"), ActionSpec("relative", "axis_angle", "world", 0.05, 0.5)),
        (env_args("Stack", "1.5.2"), RELATIVE),
        (with_controller("1.4.1", control_delta=None), ActionSpec("relative", "axis_angle", "world", 0.05, 0.5)),
        (with_controller("1.4.1", control_delta=False), ActionSpec("absolute", frame="world")),
        (with_controller("1.5.2", input_type="absolute"), ActionSpec("absolute", frame="base")),
        (
            with_controller("1.5.2", input_type="absolute", input_ref_frame="world"),
            ActionSpec("absolute", frame="world"),
        ),
        (with_controller("1.4.1", type="OSC_POSITION"), ActionSpec("relative", "none", "world", 0.05)),
        (
            with_controller("1.4.1", output_max=[0.1] * 3 + [1.0] * 3, output_min=[-0.1] * 3 + [-1.0] * 3),
            ActionSpec("relative", "axis_angle", "world", 0.1, 1.0),
        ),
        (
            with_controller("1.4.1", output_max=0.2, output_min=-0.2),
            ActionSpec("relative", "axis_angle", "world", 0.2, 0.2),
        ),
        (env_args(control_freq=10), ActionSpec("relative", "axis_angle", "world", 0.05, 0.5, rate_hz=10.0)),
        (env_args("Stack", "1.5.1", controller_configs=OSC_1_4), RELATIVE),  # an old config under the new robosuite
    ],
)
def test_the_controller_says_what_actions_mean(text: str, expected: ActionSpec) -> None:
    assert parse_env_args(text).spec == expected


def test_control_delta_is_ignored_by_robosuite_1_5_and_that_is_said() -> None:
    told = parse_env_args(env_args("Stack", "1.5.1", controller_configs={**OSC_1_4, "control_delta": False}))
    assert told.spec == RELATIVE
    assert "control_delta=false, which robosuite 1.5 ignores" in told.warnings[0]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (None, "does not say what its actions mean; found no env_args"),
        (env_args(controller_configs=None), "has no controller_configs"),
        (env_args(controller_configs={"type": "JOINT_POSITION"}), "found JOINT_POSITION; expected OSC_POSE"),
        (env_args(controller_configs={"body_parts": {"left": {}}}), r"no arm .* found \['left'\]"),
        (with_controller(output_max=[0.05, 0.05, 0.1, 0.5, 0.5, 0.5]), "scales its axes in different ways"),
        (with_controller(output_min=-0.01), "scales its axes in different ways"),
        (with_controller(input_max=2), "inputs from -1 to 1"),
    ],
)
def test_what_cannot_be_understood_is_kept_as_a_problem(text: str | None, problem: str) -> None:
    told = parse_env_args(text)
    assert told.spec is None
    with pytest.raises(type(told.problem), match=problem):  # type: ignore[arg-type]
        raise told.problem  # type: ignore[misc]


def test_names_and_versions() -> None:
    text = env_args("Square_D1", "1.4.1", robots="Sawyer")
    told = parse_env_args(text)
    assert (told.environment, told.robot) == (Environment("Square_D1", "1.4.1", text), "Sawyer")
    assert [is_release_1_5(version) for version in ("1.4.1", "1.5.0", "1.10", "2.0.0", "", "?")] == [
        False,
        True,
        True,
        True,
        None,
        None,
    ]


@pytest.mark.parametrize(
    "spec", [RELATIVE, ActionSpec("absolute"), ActionSpec("relative", position_scale_m=0.02, rate_hz=15.0)]
)
@pytest.mark.parametrize(
    "environment", [None, Environment("Stack", "1.4.1"), Environment("Stack", "1.5.2"), Environment("Stack")]
)
def test_env_args_of_our_own_say_what_the_actions_are(spec: ActionSpec, environment: Environment | None) -> None:
    text, frame = env_args_of(DatasetInfo("x", spec, environment=environment))
    told = parse_env_args(text)
    assert told.spec == ActionSpec(
        spec.kind, spec.rotation, frame, spec.position_scale_m, spec.rotation_scale_rad, rate_hz=spec.rate_hz
    )
    assert frame == ("world" if environment is not None and environment.version == "1.4.1" else "base")


@pytest.mark.parametrize("version", ["1.4.1", "1.5.2"])
def test_what_the_dataset_came_with_stays_verbatim_while_it_fits(version: str) -> None:
    text = env_args("Stack", version)
    environment = Environment("Stack", version, text)
    assert env_args_of(DatasetInfo("x", RELATIVE, environment=environment))[0] == text

    changed = json.loads(env_args_of(DatasetInfo("x", ActionSpec("absolute"), environment=environment))[0])
    original = json.loads(text)
    for document in (changed, original):
        del document["env_kwargs"]["controller_configs"]
    assert changed == original
