"""Generation into a cache: what is in it, kills, keys, bad input; and the augmentation that draws from it."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch

from memory_source import memory_dataset
from sido.augment import (
    CachedCounterfactual,
    ChunkCache,
    Counterfactual,
    GaussNewton,
    GenerationSettings,
    Heuristic,
    Mppi,
    UniformLength,
    generate_cache,
    plan_cache,
)
from sido.augment.dynamics import DynamicsModel, FitSettings, RobotMotion, fit_dynamics
from sido.demos import ChunkBatch, ChunkSampler, DemoDataset
from sido.demos.action_spec import ActionSpec
from sido.errors import DataError, SettingError
from toy_robot import ABSOLUTE, RELATIVE, linear_demo, random_model

SETTINGS = GenerationSettings(Counterfactual(step_speed_m=0.002), displacements=3)


@pytest.fixture(scope="module", params=[ABSOLUTE, RELATIVE], ids=["absolute", "relative"])
def dataset(request: pytest.FixtureRequest) -> DemoDataset:
    late = [linear_demo(seed, request.param) for seed in range(4)]
    early = linear_demo(4, request.param, grasp=10)  # none of its chunks is eligible
    return memory_dataset([*late[:2], early, *late[2:]])


@pytest.fixture(scope="module")
def model(dataset: DemoDataset) -> DynamicsModel:
    motions = [RobotMotion.of(demo) for demo in dataset]
    settings = FitSettings(one_step_updates=20, rollout_updates=2, width=8)
    return fit_dynamics(motions, dataset.info.action_spec, settings)


def filled(
    dataset: DemoDataset, folder: Path, model: DynamicsModel, settings: GenerationSettings = SETTINGS
) -> ChunkCache:
    cache = plan_cache(dataset, folder, model, settings)
    generate_cache(dataset, cache, model, settings)
    return cache


def test_displacements_are_as_long_as_asked_and_every_eligible_chunk_has_its_own(
    dataset: DemoDataset, model: DynamicsModel, tmp_path: Path
):
    cache = filled(dataset, tmp_path / "c", model)
    eligible = sum(int(demo.eligible_steps(16).sum()) for demo in dataset)
    assert cache.chunks.shape == (eligible, 3, 3 + 3 * 16 + 3)
    delta = cache.displacement
    np.testing.assert_allclose(np.linalg.norm(delta, axis=-1), 0.032, rtol=1e-5)
    assert (delta[..., 2] == 0).all()
    assert len(np.unique(delta[..., 0])) == eligible * 3
    seed_cost, cost = cache.costs
    assert (cost <= seed_cost).all()
    varied = dataclasses.replace(SETTINGS, counterfactual=Counterfactual(step_speed_m=0.002, length=UniformLength()))
    lengths = np.linalg.norm(filled(dataset, tmp_path / "v", model, varied).displacement, axis=-1)
    assert lengths.max() < 0.032
    assert 0.3 < lengths.mean() / 0.032 < 0.7


def test_the_heuristic_generator_is_the_augmentation_itself(dataset: DemoDataset, model: DynamicsModel, tmp_path: Path):
    settings = dataclasses.replace(SETTINGS, refiner=Heuristic())
    cache = filled(dataset, tmp_path / "c", model, settings)
    batch, after = drawn(dataset, cache)
    moved = (after.displacement != 0).any(1)
    from sido.augment.morph import morph_absolute, morph_relative

    if batch.action_spec.kind == "absolute":
        wanted = morph_absolute(batch.actions, after.displacement, 8)
    else:
        wanted = morph_relative(batch.actions, after.displacement, 8, metres_per_unit=0.05)
    torch.testing.assert_close(after.actions[moved], wanted[moved], rtol=0, atol=1e-6)


def drawn(dataset: DemoDataset, cache: ChunkCache, seed: int = 0) -> tuple[ChunkBatch, ChunkBatch]:
    sampler = ChunkSampler(dataset)
    batch = sampler.batch(torch.arange(len(sampler)))
    augment = CachedCounterfactual.of(cache.folder).bound_to(
        dataset.names, sampler.numbers["actions"], sampler.action_spec
    )
    return batch, augment(batch, torch.Generator().manual_seed(seed))


def test_draws_are_those_of_the_cache_and_static_samples_come_back_bit_for_bit(
    dataset: DemoDataset, model: DynamicsModel, tmp_path: Path
):
    cache = filled(dataset, tmp_path / "c", model)
    batch, after = drawn(dataset, cache)
    moved = (after.displacement != 0).any(1)
    assert 0.6 < float(moved[batch.eligible].double().mean()) < 0.95
    assert not moved[~batch.eligible].any()
    for name in ("object_position", "actions", "displacement"):
        assert torch.equal(getattr(after, name)[~moved], getattr(batch, name)[~moved])
    assert torch.equal(after.actions[..., 3:], batch.actions[..., 3:])
    assert after.observations is batch.observations
    torch.testing.assert_close(after.object_position, batch.object_position + after.displacement[:, None])
    rows = {rows.name: rows for rows in cache.demos}
    for i in moved.nonzero()[:, 0].tolist():
        demo = rows[dataset.names[int(batch.demo_index[i])]]
        row = demo.row + int(batch.step[i]) - demo.first_step
        which = np.flatnonzero((cache.displacement[row] == after.displacement[i].numpy()).all(axis=1))
        assert len(which) == 1
        np.testing.assert_array_equal(cache.positions[row, which[0]], after.actions[i, :, :3].numpy())


def test_the_same_samples_stay_static_as_with_chunks_made_on_the_fly(
    dataset: DemoDataset, model: DynamicsModel, tmp_path: Path
):
    batch, after = drawn(dataset, filled(dataset, tmp_path / "c", model), seed=3)
    fly = Counterfactual(step_speed_m=0.002)(batch, torch.Generator().manual_seed(3))
    assert torch.equal((after.displacement != 0).any(1), (fly.displacement != 0).any(1))


def test_every_displacement_is_drawn(dataset: DemoDataset, model: DynamicsModel, tmp_path: Path):
    cache = filled(dataset, tmp_path / "c", model)
    seen = {tuple(delta) for seed in range(30) for delta in drawn(dataset, cache, seed)[1].displacement.tolist()}
    assert len(seen) == cache.chunks.shape[0] * 3 + 1  # and the static ones


def test_commands_reach_no_further_than_the_cache_says(dataset: DemoDataset, model: DynamicsModel, tmp_path: Path):
    cache = filled(dataset, tmp_path / "c", model)
    spec = dataset.info.action_spec
    unit = 1.0 if spec.kind == "absolute" else spec.position_scale_m
    for seed in range(20):
        batch, after = drawn(dataset, cache, seed)
        assert float((after.actions - batch.actions)[..., :2].abs().max()) * unit <= cache.reach_m * (1 + 1e-4) + 1e-6
    assert CachedCounterfactual.of(cache.folder).longest_m == cache.reach_m


@pytest.mark.parametrize("refiner", [GaussNewton(), Mppi(samples=8, iterations=2)], ids=lambda refiner: refiner.kind)
def test_a_killed_generation_goes_on_to_the_same_bytes(
    dataset: DemoDataset, model: DynamicsModel, tmp_path: Path, refiner: GaussNewton | Mppi
):
    settings = dataclasses.replace(SETTINGS, refiner=refiner)
    whole = filled(dataset, tmp_path / "whole", model, settings)
    folder = tmp_path / "killed"
    for kill_at in (1, 3):

        def progress(done: int, total: int, kill_at: int = kill_at) -> None:
            if done == kill_at:
                raise KeyboardInterrupt

        cache = plan_cache(dataset, folder, model, settings)
        with pytest.raises(KeyboardInterrupt):
            generate_cache(dataset, cache, model, settings, progress=progress)
        assert not ChunkCache.open(folder).complete
        with pytest.raises(DataError, match="not complete"):
            CachedCounterfactual.of(folder)
        # What a kill in the middle of a write leaves: rows that no byte vouches for.
        missing = int(np.flatnonzero(ChunkCache.open(folder).done == 0)[-1])
        rows = cache.demos[missing]
        ChunkCache.open(folder, writable=True).chunks[rows.row : rows.row + rows.count] = 7.0
    generate_cache(dataset, plan_cache(dataset, folder, model, settings), model, settings, threads=2)
    for name in ("cache.json", "chunks.f32", "done.u8"):
        assert (folder / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert whole.complete
    assert whole.model().digest == model.digest


def test_another_key_is_refused(dataset: DemoDataset, model: DynamicsModel, tmp_path: Path):
    filled(dataset, tmp_path / "c", model)
    with pytest.raises(SettingError, match="settings: the folder holds chunks that were generated from something else"):
        plan_cache(dataset, tmp_path / "c", model, dataclasses.replace(SETTINGS, seed=1))
    with pytest.raises(SettingError, match="dynamics"):
        plan_cache(dataset, tmp_path / "c", random_model(1, dataset.info.action_spec).float(), SETTINGS)
    with pytest.raises(SettingError, match="data"):
        plan_cache(dataset[:3], tmp_path / "c", model, SETTINGS)


def test_data_other_than_the_caches_are_refused(dataset: DemoDataset, model: DynamicsModel, tmp_path: Path):
    cached = CachedCounterfactual.of(filled(dataset, tmp_path / "c", model).folder)
    actions, spec = ChunkSampler(dataset).numbers["actions"], dataset.info.action_spec
    other = actions.clone()
    other[70, 0] += 1e-3
    with pytest.raises(DataError, match="demo_1: the cache was not generated from this demonstration; found another"):
        cached.bound_to(dataset.names, other, spec)
    with pytest.raises(DataError, match="found none of that name"):
        cached.bound_to(["demo_9"], actions, spec)
    with pytest.raises(DataError, match="action specs of the cache"):
        cached.bound_to(dataset.names, actions, ActionSpec("absolute", rotation="rot6d"))
    with pytest.raises(DataError, match="another one than the run began with"):
        dataclasses.replace(cached, digest="0").bound_to(dataset.names, actions, spec)
    with pytest.raises(DataError, match="no cache of chunks"):
        CachedCounterfactual.of(tmp_path)
    with pytest.raises(SettingError, match="static_ratio"):
        CachedCounterfactual.of(tmp_path / "c", static_ratio=1.5)


def test_a_model_of_other_actions_is_refused(dataset: DemoDataset, tmp_path: Path):
    mine = dataset.info.action_spec
    model = random_model(0, RELATIVE if mine.kind == "absolute" else ABSOLUTE).float()
    cache = plan_cache(dataset, tmp_path / "c", model, SETTINGS)
    with pytest.raises(DataError, match="action specs of the dynamics model and demo_0 differ"):
        generate_cache(dataset, cache, model, SETTINGS)


def test_a_dataset_without_eligible_chunks_is_refused(tmp_path: Path):
    early = memory_dataset([linear_demo(0, grasp=12)])
    with pytest.raises(DataError, match="no chunk ends before a grasp"):
        plan_cache(early, tmp_path / "c", random_model(0).float(), SETTINGS)
    assert not (tmp_path / "c").exists()


def test_chunks_that_stand_still_stay_with_their_objects(tmp_path: Path):
    demo = linear_demo(0, RELATIVE)
    actions = demo.actions.copy()
    actions[:30, :3] = 0
    dataset = memory_dataset([dataclasses.replace(demo, actions=actions)])
    model = random_model(0, RELATIVE).float()
    cache = filled(dataset, tmp_path / "c", model)
    still = cache.displacement[:22]
    assert (still == 0).all()
    np.testing.assert_array_equal(cache.positions[:14], 0)
    batch, after = drawn(dataset, cache)
    assert torch.equal(after.object_position[:22], batch.object_position[:22])
    assert torch.equal(after.actions[:22], batch.actions[:22])


def test_settings_are_checked():
    for wrong in ({"displacements": 0}, {"seed": -1}):
        with pytest.raises(SettingError, match="GenerationSettings"):
            GenerationSettings(**wrong)
