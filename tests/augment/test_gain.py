from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sido.augment import estimate_gain
from sido.demos.action_spec import ACTION_SPECS
from sido.demos.demo import Demo, Grasp
from sido.demos.synthetic import REALISED_SHARE, reach_and_lift
from sido.errors import DataError, SettingError


def demonstration(seed: int, *, grasp_step: int = 40, name: str = "demo_0", spec: str = "osc-delta") -> Demo:
    demo = reach_and_lift(
        np.random.default_rng(seed), name=name, grasp_step=grasp_step, spec=ACTION_SPECS[spec], steps=80
    )
    return dataclasses.replace(demo, grasp=Grasp(grasp_step, "told"))


def noisy(demo: Demo, rng: np.random.Generator) -> Demo:
    return dataclasses.replace(demo, eef_position=demo.eef_position + rng.normal(0.0, 0.002, demo.eef_position.shape))


@given(st.integers(0, 1000))
def test_finds_the_share_that_the_pretend_arm_realises(seed: int) -> None:
    gain = estimate_gain([demonstration(seed), demonstration(seed + 1, grasp_step=50)])
    for fit, steps in ((gain.at_action_horizon, 8), (gain.at_prediction_horizon, 16)):
        assert fit.steps == steps
        assert fit.gain == pytest.approx(REALISED_SHARE, abs=1e-9)
        assert fit.residual_m < 1e-8
    assert gain.windows == 25 + 35  # 0..T_g - T_p, both included


@pytest.mark.parametrize("action_horizon", [1, 4, 12])
def test_agrees_with_numpy_least_squares_over_an_obvious_loop(action_horizon: int) -> None:
    rng = np.random.default_rng(3)
    demos = [noisy(demonstration(seed), rng) for seed in range(3)]
    gain = estimate_gain(demos, prediction_horizon=12, action_horizon=action_horizon)
    for fit, steps in ((gain.at_action_horizon, action_horizon), (gain.at_prediction_horizon, 12)):
        commanded, realised = [], []
        for demo in demos:
            for start in range(80):
                if start + 12 <= 40:
                    commanded.append(0.05 * demo.actions[start : start + steps, :3].sum(0))
                    realised.append(demo.eef_position[start + steps] - demo.eef_position[start])
        x, y = np.array(commanded), np.array(realised)
        (expected,), *_ = np.linalg.lstsq(x.reshape(-1, 1), y.ravel(), rcond=None)
        assert fit.gain == pytest.approx(expected, rel=1e-9)
        residual_m = np.sqrt(np.mean(np.sum((y - expected * x) ** 2, axis=1)))
        assert fit.residual_m == pytest.approx(residual_m, rel=1e-6)
        assert residual_m > 1e-3  # the noise is there to be seen


def test_counts_only_the_eligible_window() -> None:
    demo = demonstration(0)
    late = dataclasses.replace(demo, grasp=Grasp(40, "told", window_start=10))
    assert estimate_gain([late]).windows == 15
    without = dataclasses.replace(demo, grasp=None)
    assert estimate_gain([late, without]).windows == 15


def test_reads_demonstrations_one_by_one() -> None:
    assert estimate_gain(demonstration(seed) for seed in range(3)).windows == 75


def test_reads_well() -> None:
    text = str(estimate_gain([demonstration(0)]))
    assert text.startswith("the arm realises 0.250 after 8 steps (residual ")
    assert text.endswith("mm) of what it is told, over 25 chunks")


def test_refuses_what_has_no_gain() -> None:
    with pytest.raises(
        DataError, match=r"demo_7 > ActionSpec.kind: absolute actions have no gain.* expected 'relative'"
    ):
        estimate_gain([demonstration(0, name="demo_7", spec="osc-absolute")])
    demo = demonstration(0)
    tool = dataclasses.replace(demo, action_spec=dataclasses.replace(demo.action_spec, frame="tool"))
    with pytest.raises(DataError, match=r"demo_0 > ActionSpec.frame: .* to mend it: convert the dataset to absolute"):
        estimate_gain([tool])
    for demos in ([], [dataclasses.replace(demo, grasp=None)], [dataclasses.replace(demo, grasp=Grasp(12, "told"))]):
        with pytest.raises(DataError, match=r"grasp: no chunk to estimate the gain from; .* to mend it: annotate"):
            estimate_gain(demos)
    backwards = dataclasses.replace(demo, actions=demo.actions * [-1.0, -1, -1, 1, 1, 1, 1])
    still = dataclasses.replace(demo, actions=demo.actions * [0.0, 0, 0, 1, 1, 1, 1])
    for wrong in (backwards, still):
        with pytest.raises(DataError, match="actions: the hand does not follow its commands"):
            estimate_gain([wrong])


def test_refuses_horizons_that_do_not_fit() -> None:
    for action_horizon in (0, 17):
        with pytest.raises(SettingError, match=f"action_horizon: .* found {action_horizon}; expected 1 to 16"):
            estimate_gain([demonstration(0)], action_horizon=action_horizon)
