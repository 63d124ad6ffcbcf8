from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from torch import Tensor

from sido.augment import Counterfactual, FixedLength, UniformLength, morph_absolute, morph_relative
from sido.augment.invariant import invariant_residual
from sido.demos.action_spec import ACTION_SPECS, ActionSpec
from sido.demos.chunks import ChunkBatch
from sido.errors import DataError, SettingError

SPECS = [ACTION_SPECS[name] for name in ("osc-absolute", "rot6d-absolute", "osc-delta")]
RELATIVE = ACTION_SPECS["osc-delta"]
DTYPES = [torch.float64, torch.float32, torch.float16, torch.bfloat16]

seeds = st.integers(0, 2**32 - 1)
lengths = st.sampled_from([FixedLength(), UniformLength()])


@st.composite
def augmentations(draw: st.DrawFn) -> Counterfactual:
    horizon = draw(st.integers(2, 20))
    return Counterfactual(
        step_speed_m=draw(st.floats(0.0, 0.01)),
        prediction_horizon=horizon,
        action_horizon=draw(st.integers(2, horizon)),
        static_ratio=draw(st.floats(0.0, 1.0)),
        length=draw(lengths),
        relative_gain=draw(st.floats(0.1, 2.0)),
    )


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def bits(tensor: Tensor) -> bytes:
    return tensor.contiguous().view(torch.uint8).numpy().tobytes()


def same(a: ChunkBatch, b: ChunkBatch) -> bool:
    names = ("actions", "object_position", "displacement")
    return all(bits(getattr(a, name)) == bits(getattr(b, name)) for name in names)


# --- laws -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: f"{spec.kind}-{spec.rotation}")
@given(augment=augmentations(), seed=seeds)
def test_the_invariant_holds_to_a_nanometre(
    make_batch: Any, spec: ActionSpec, augment: Counterfactual, seed: int
) -> None:
    batch = make_batch(seed % 1000, horizon=augment.prediction_horizon, spec=spec)
    batch.actions[::5, :, :3] = 0.0  # hands that stand still
    after = augment(batch, seeded(seed))
    residual = invariant_residual(batch, after, augment.action_horizon, relative_gain=augment.relative_gain)
    assert residual.at_action_horizon.abs().max() < 1e-9
    assert residual.at_prediction_horizon.abs().max() < 1e-9


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: f"{spec.kind}-{spec.rotation}")
@given(augment=augmentations(), seed=seeds)
def test_each_sample_is_either_untouched_to_the_bit_or_displaced_as_recorded(
    make_batch: Any, spec: ActionSpec, augment: Counterfactual, seed: int
) -> None:
    batch = make_batch(seed % 1000, horizon=augment.prediction_horizon, spec=spec)
    batch.actions[:, :, 0] *= -0.0
    after = augment(batch, seeded(seed))
    moved = after.displacement.any(1)
    assert not (moved & ~batch.eligible).any()
    assert same(after[~moved], dataclasses.replace(batch[~moved]))
    delta = after.displacement
    torch.testing.assert_close(after.object_position - batch.object_position, delta[:, None].expand(-1, 2, -1))
    if spec.kind == "absolute":
        morphed = morph_absolute(batch.actions, delta, augment.action_horizon)
    else:
        morphed = morph_relative(
            batch.actions, delta, augment.action_horizon, metres_per_unit=0.05, gain=augment.relative_gain
        )
    assert bits(after.actions) == bits(morphed)


@given(augment=augmentations(), seed=seeds)
def test_the_rest_of_the_batch_is_the_very_same(make_batch: Any, augment: Counterfactual, seed: int) -> None:
    batch = make_batch(horizon=augment.prediction_horizon)
    before = {name: bits(getattr(batch, name)) for name in ("actions", "object_position", "displacement")}
    after = augment(batch, seeded(seed))
    changing = set(before)
    for field in dataclasses.fields(ChunkBatch):
        if field.name not in changing:
            assert getattr(after, field.name) is getattr(batch, field.name)
    assert {name: bits(getattr(batch, name)) for name in before} == before  # nothing written to


@given(augment=augmentations(), seed=seeds, shift=st.lists(st.floats(-2, 2), min_size=3, max_size=3))
def test_commutes_with_a_shift_of_the_world(
    make_batch: Any, augment: Counterfactual, seed: int, shift: list[float]
) -> None:
    batch = make_batch(horizon=augment.prediction_horizon)
    offset = torch.tensor(shift, dtype=torch.float64)

    def elsewhere(batch: ChunkBatch) -> ChunkBatch:
        actions = batch.actions.clone()
        actions[..., :3] += offset
        return dataclasses.replace(batch, actions=actions, object_position=batch.object_position + offset)

    there, here = augment(elsewhere(batch), seeded(seed)), elsewhere(augment(batch, seeded(seed)))
    torch.testing.assert_close(there.actions, here.actions, rtol=0, atol=1e-12)
    torch.testing.assert_close(there.object_position, here.object_position, rtol=0, atol=1e-12)


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: f"{spec.kind}-{spec.rotation}")
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("settings", [{"static_ratio": 1.0}, {"step_speed_m": 0.0}], ids=str)
def test_a_still_object_gives_a_bit_identical_batch(
    make_batch: Any, settings: dict[str, float], dtype: torch.dtype, spec: ActionSpec
) -> None:
    batch = make_batch(spec=spec, dtype=dtype, eligible_share=1.0)
    batch.actions[:, ::2, :3] = -0.0
    batch.object_position[:, :, 1] = -0.0
    assert same(Counterfactual(**settings)(batch, seeded(3)), batch)


def test_a_chunk_that_stands_still_keeps_its_object(make_batch: Any) -> None:
    batch = make_batch(spec=RELATIVE, eligible_share=1.0)
    batch.actions[:9, :8, :3] = 0.0  # still until T_a, though not after
    after = Counterfactual(static_ratio=0.0)(batch, seeded(0))
    assert same(after[:9], batch[:9])
    assert after.displacement[9:].any(1).all()


def test_absolute_chunks_that_stand_still_are_displaced_all_the_same(make_batch: Any) -> None:
    batch = make_batch(eligible_share=1.0)
    batch.actions[:, :, :3] = 0.0  # waypoints at the origin: as increments they would be a hand that stands still
    assert Counterfactual(static_ratio=0.0)(batch, seeded(0)).displacement.any(1).all()


@given(seed=seeds)
def test_two_displacements_add_up(make_batch: Any, seed: int) -> None:
    batch, augment, rng = make_batch(eligible_share=1.0), Counterfactual(static_ratio=0.3), seeded(seed)
    once = augment(batch, rng)
    twice = augment(once, rng)
    torch.testing.assert_close(
        twice.object_position[:, 0] - batch.object_position[:, 0], twice.displacement, rtol=0, atol=1e-12
    )
    whole = morph_absolute(batch.actions, twice.displacement, 8)
    torch.testing.assert_close(twice.actions, whole, rtol=0, atol=1e-12)


# --- chance -----------------------------------------------------------------------------------------------------------


def test_deterministic_given_the_generator_and_only_that(make_batch: Any) -> None:
    batch, augment = make_batch(), Counterfactual()
    torch.manual_seed(1)
    first = augment(batch, seeded(7))
    torch.manual_seed(2)
    assert same(first, augment(batch, seeded(7)))
    assert not same(first, augment(batch, seeded(8)))


def test_leaves_the_global_generator_alone(make_batch: Any) -> None:
    state = torch.get_rng_state()
    Counterfactual()(make_batch(), seeded(0))
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("length", [FixedLength(), UniformLength()], ids=str)
def test_draws_depend_on_nothing_but_the_number_of_samples(
    make_batch: Any, length: FixedLength | UniformLength
) -> None:
    """Resuming must find the generator where it was, whatever the masks, the spec, the ratio or the dtype."""
    expected = seeded(5)
    torch.rand(3, 32, generator=expected)
    for settings in ({}, {"eligible_share": 0.0}, {"spec": RELATIVE}, {"dtype": torch.float16}):
        for ratio in (0.0, 0.5, 1.0):
            rng = seeded(5)
            Counterfactual(static_ratio=ratio, length=length)(make_batch(**settings), rng)
            assert torch.equal(rng.get_state(), expected.get_state())


def test_equal_displacements_in_every_type(make_batch: Any) -> None:
    augment = Counterfactual(length=UniformLength())
    double = augment(make_batch(), seeded(5)).displacement
    for dtype in DTYPES:
        displacement = augment(make_batch(dtype=dtype), seeded(5)).displacement
        assert displacement.dtype == dtype
        torch.testing.assert_close(displacement.double(), double, rtol=0, atol=0.016 * torch.finfo(dtype).eps + 1e-8)


def test_statistics_of_the_draws(make_batch: Any) -> None:
    """Binomial share of unchanged samples, uniform headings, |delta| = v T_p; and the three are independent."""
    augment = Counterfactual(step_speed_m=0.002, static_ratio=0.2)
    delta = augment(make_batch(size=20_000, horizon=16, eligible_share=1.0), seeded(0)).displacement
    moved = delta.any(1)
    assert stats.binomtest(int((~moved).sum()), len(moved), 0.2).pvalue > 1e-3
    assert (delta[moved].norm(dim=1) - 0.032).abs().max() < 1e-15
    assert not delta[:, 2].any()
    headings = torch.atan2(delta[moved, 1], delta[moved, 0]) / (2 * math.pi) % 1.0
    assert stats.kstest(headings.numpy(), "uniform").pvalue > 1e-3

    varied = dataclasses.replace(augment, length=UniformLength())
    distance = varied(make_batch(size=20_000, eligible_share=1.0), seeded(0)).displacement.norm(dim=1)[moved]
    assert stats.kstest((distance / 0.032).numpy(), "uniform").pvalue > 1e-3
    assert stats.spearmanr(distance.numpy(), headings.numpy()).pvalue > 1e-3


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: f"{spec.kind}-{spec.rotation}")
def test_draws_on_the_generators_device_and_works_on_the_batchs(make_batch: Any, spec: ActionSpec) -> None:
    """The meta device stands for a GPU: it refuses every operation that mixes it with the CPU."""
    after = Counterfactual()(make_batch(spec=spec).to("meta"), seeded(0))
    assert {after.actions.device.type, after.object_position.device.type, after.displacement.device.type} == {"meta"}


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: f"{spec.kind}-{spec.rotation}")
def test_a_gpu_agrees_with_the_cpu(make_batch: Any, spec: ActionSpec) -> None:
    batch, augment = make_batch(spec=spec), Counterfactual()
    here, there = augment(batch, seeded(0)), augment(batch.to("cuda"), seeded(0)).to("cpu")
    for name in ("actions", "object_position", "displacement"):
        torch.testing.assert_close(getattr(there, name), getattr(here, name), rtol=0, atol=1e-12)
    augment(batch.to("cuda"), torch.Generator("cuda").manual_seed(0))


# --- settings ---------------------------------------------------------------------------------------------------------


@given(augmentations())
def test_json_is_the_identity(augment: Counterfactual) -> None:
    assert Counterfactual.from_json(augment.to_json()) == augment


def test_longest_is_the_speed_times_the_horizon(make_batch: Any) -> None:
    augment = Counterfactual(step_speed_m=0.002, prediction_horizon=8, action_horizon=4, static_ratio=0.0)
    assert augment.longest_m == 0.016
    after = augment(make_batch(horizon=8, eligible_share=1.0), seeded(0))
    assert after.displacement.norm(dim=1).tolist() == pytest.approx([0.016] * 32)


@pytest.mark.usefixtures("as_user")
@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("step_speed_m", -0.001, "0 to inf"),
        ("step_speed_m", math.inf, "0 to inf"),
        ("step_speed_m", "fast", "0 to inf"),
        pytest.param("step_speed_m", 10**400, "0 to inf", id="more than a float holds"),
        ("step_speed_m", 1e308, "0 to inf, and finite times prediction_horizon = 16"),
        ("static_ratio", 1.5, "0 to 1"),
        ("static_ratio", math.nan, "0 to 1"),
        ("relative_gain", 0.0, "a finite number above 0"),
        ("relative_gain", -1.0, "a finite number above 0"),
        ("relative_gain", 1e-320, "a number whose inverse is finite"),
        ("prediction_horizon", 1, "a whole number, at least 2"),
        ("prediction_horizon", 16.0, "a whole number, at least 2"),
        ("action_horizon", 1, "a whole number, 2 to prediction_horizon = 16"),
        ("action_horizon", 17, "a whole number, 2 to prediction_horizon = 16"),
        ("action_horizon", True, "a whole number, 2 to prediction_horizon = 16"),
        ("length", "uniform", "FixedLength() or UniformLength()"),
    ],
)
def test_refuses_settings_that_make_no_sense(name: str, value: object, expected: str) -> None:
    with pytest.raises(SettingError) as caught:
        Counterfactual(**{name: value})  # pyright: ignore
    assert str(caught.value) == f"Counterfactual.{name}: cannot be used; found {value!r}; expected {expected}"


@pytest.mark.usefixtures("as_user")
def test_takes_numbers_of_numpy_for_settings() -> None:
    augment = Counterfactual(step_speed_m=np.float32(0.25), prediction_horizon=np.int64(16))  # pyright: ignore
    assert augment == Counterfactual(step_speed_m=0.25, prediction_horizon=16)
    assert Counterfactual.from_json(augment.to_json()) == augment


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: f"{spec.kind}-{spec.rotation}")
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_chunk_that_is_not_finite_stays_as_it_is_and_so_does_its_object(
    make_batch: Any, spec: ActionSpec, value: float
) -> None:
    batch = make_batch(spec=spec, eligible_share=1.0)
    batch.actions[::2, 3, 1] = value
    after = Counterfactual(static_ratio=0.0)(batch, seeded(0))
    assert same(after[::2], batch[::2])
    assert after.displacement[1::2].any(1).all()
    assert after[1::2].actions.isfinite().all()


@pytest.mark.usefixtures("as_user")
@pytest.mark.parametrize("rng", [None, np.random.default_rng(0), 7], ids=["none", "numpy", "seed"])
def test_refuses_what_is_no_generator_of_torch(make_batch: Any, rng: Any) -> None:
    with pytest.raises(SettingError, match=r"rng: not a generator; found .*; expected a torch.Generator"):
        Counterfactual()(make_batch(), rng)


@pytest.mark.usefixtures("as_user")
def test_refuses_whole_numbers_for_actions(make_batch: Any) -> None:
    batch = make_batch()
    with pytest.raises(DataError, match=r"actions: not floating point; found torch.int64; expected a float tensor"):
        Counterfactual()(dataclasses.replace(batch, actions=batch.actions.long()), seeded(0))


def test_refuses_chunks_of_another_length(make_batch: Any) -> None:
    with pytest.raises(SettingError) as caught:
        Counterfactual()(make_batch(horizon=12), seeded(0))
    assert str(caught.value) == (
        "Counterfactual.prediction_horizon: the batch's chunks are not as long as the prediction horizon; found 16; "
        "expected 12, the length of the chunks; to mend it: give both the same horizon"
    )


def test_refuses_actions_in_the_tools_frame(make_batch: Any) -> None:
    batch = make_batch(spec=ActionSpec("relative", frame="tool"))
    with pytest.raises(SettingError, match=r"ActionSpec.frame: .* found 'tool'; expected 'base' or 'world'; to mend"):
        Counterfactual()(batch, seeded(0))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "Counterfactual: not JSON"),
        ("[" * 100_000, "Counterfactual: not JSON"),
        ("1" * 5000, "Counterfactual: not JSON"),
        (b"\xff", "Counterfactual: not JSON"),
        (None, "Counterfactual: not JSON; found the JSON object must be str"),
        ("[1]", "Counterfactual: not the augmentation's settings; found [1]; expected an object of action_horizon,"),
        ('{"step_speed_m": 0.001}', "Counterfactual: not the augmentation's settings; found {'step_speed_m': 0.001}"),
        (
            json.dumps({**json.loads(Counterfactual().to_json()), "length": "long"}),
            "unknown name; found 'long'; expect",
        ),
        (json.dumps({**json.loads(Counterfactual().to_json()), "length": ["fixed"]}), "unknown name; found ['fixed']"),
    ],
)
@pytest.mark.usefixtures("as_user")
def test_refuses_saved_settings_that_are_damaged(text: Any, complaint: str) -> None:
    with pytest.raises(DataError) as caught:
        Counterfactual.from_json(text)
    assert complaint in str(caught.value)
