"""Batches agree with a slow, obvious loop over demonstrations and steps."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_source import memory_dataset, synthetic_demos
from sido.demos import ACTION_SPECS, ChunkBatch, ChunkSampler, ChunkWindow, Demo, FrameStore
from sido.errors import DataError, SettingError
from sido.geometry import Pose, matrix_from_quat, rot6d_from_matrix

DEMOS = synthetic_demos(5, image_size=8)
windows = st.integers(1, 20).flatmap(
    lambda horizon: st.builds(
        ChunkWindow,
        prediction_horizon=st.just(horizon),
        observation_steps=st.integers(1, 4),
        pad_after=st.integers(0, horizon - 1),
    )
)


def slow_sample(demo: Demo, t: int, window: ChunkWindow) -> dict[str, np.ndarray]:
    """One sample, one step at a time."""
    positions, rotations, fingers, objects, seen_pad = [], [], [], [], []
    for s in range(t - window.observation_steps + 1, t + 1):
        at = max(s, 0)
        positions.append(demo.eef_position[at])
        rotations.append(rot6d_from_matrix(matrix_from_quat(demo.eef_quat_wxyz[at])))
        fingers.append(demo.gripper[at])
        objects.append(demo.object_position[at])
        seen_pad.append(s < 0)
    actions, action_pad = [], []
    for k in range(window.prediction_horizon):
        actions.append(demo.actions[min(t + k, len(demo) - 1)])
        action_pad.append(t + k >= len(demo))
    return {
        "eef_position": np.array(positions),
        "eef_rot6d": np.array(rotations),
        "gripper": np.array(fingers),
        "object_position": np.array(objects),
        "actions": np.array(actions),
        "observation_is_pad": np.array(seen_pad),
        "action_is_pad": np.array(action_pad),
        "eligible": demo.grasp is not None and demo.grasp.eligible(t, window.prediction_horizon),
    }


def fields(batch: ChunkBatch, row: int) -> dict[str, np.ndarray]:
    named = {name: tensor[row].numpy() for name, tensor in batch.observations.items() if not name.startswith("image")}
    others = ("object_position", "actions", "observation_is_pad", "action_is_pad", "eligible")
    return named | {name: getattr(batch, name)[row].numpy() for name in others}


@settings(max_examples=15)
@given(window=windows)
def test_every_transition_agrees_with_the_slow_loop(window: ChunkWindow):
    dataset = memory_dataset(DEMOS)
    sampler = ChunkSampler(dataset, window, dtype=torch.float64)
    expected = [
        (index, t)
        for index, demo in enumerate(DEMOS)
        for t in range(len(demo))
        if t + window.prediction_horizon <= len(demo) + window.pad_after
    ]
    batch = sampler.batch(torch.arange(len(sampler)))
    assert list(zip(batch.demo_index.tolist(), batch.step.tolist(), strict=True)) == expected
    demos = list(dataset)
    for row in {0, len(expected) - 1, *range(0, len(expected), 7)}:
        index, t = expected[row]
        slow = slow_sample(demos[index], t, window)
        fast = fields(batch, row)
        assert fast.keys() == slow.keys()
        for name in slow:
            np.testing.assert_array_equal(fast[name], slow[name], err_msg=name)


def test_the_eligible_share_is_counted_over_transitions():
    sampler = ChunkSampler(memory_dataset(DEMOS))
    assert sampler.eligible_share == sampler.batch(torch.arange(len(sampler))).eligible.double().mean().item()
    assert 0.1 < sampler.eligible_share < 0.6


def test_sampling_is_a_function_of_the_generator():
    sampler = ChunkSampler(memory_dataset(DEMOS))
    first, again, other = (sampler.sample(64, torch.Generator().manual_seed(seed)) for seed in (1, 1, 2))
    assert torch.equal(first.actions, again.actions)
    assert not torch.equal(first.actions, other.actions)


def test_an_epoch_has_every_transition_once():
    sampler = ChunkSampler(memory_dataset(DEMOS))
    batches = list(sampler.epoch(32, torch.Generator().manual_seed(0)))
    seen = sorted((int(d), int(t)) for batch in batches for d, t in zip(batch.demo_index, batch.step, strict=True))
    assert len(seen) == len(set(seen)) == len(sampler)
    assert [len(batch) for batch in batches[:-1]] == [32] * (len(batches) - 1)
    whole = list(sampler.epoch(32, torch.Generator().manual_seed(0), drop_last=True))
    assert len(whole) == len(sampler) // 32
    assert {len(batch) for batch in whole} == {32}


def test_images_come_from_the_store_in_the_windows_order(tmp_path: Path):
    dataset = memory_dataset(DEMOS)
    store = FrameStore.of(dataset, folder=tmp_path / "frames")
    subset = dataset[1:4:2]  # the store holds more demonstrations than the sampler
    batch = ChunkSampler(subset, frames=store).sample(40, torch.Generator().manual_seed(0))
    for camera in ("agentview", "robot0_eye_in_hand"):
        images = batch.observations[f"image.{camera}"].numpy()
        assert images.shape == (40, 2, 8, 8, 3)
        for row in range(40):
            frames, t = subset[int(batch.demo_index[row])].images[camera], int(batch.step[row])
            np.testing.assert_array_equal(images[row], frames[np.array([max(t - 1, 0), t])])


def test_a_store_is_built_once_and_opened_after(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SIDO_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "data"
    path.write_text("stands for the file")
    seen: list[tuple[int, int]] = []
    first = FrameStore.of(memory_dataset(DEMOS, path), progress=lambda done, total: seen.append((done, total)))
    assert seen == [(k, 5) for k in range(1, 6)]
    again = FrameStore.of(memory_dataset(DEMOS, path), progress=lambda done, total: seen.append((done, total)))
    assert again.folder == first.folder
    assert len(seen) == 5
    path.write_text("has been changed since")
    assert FrameStore.of(memory_dataset(DEMOS, path)).folder != first.folder


def test_an_interrupted_store_leaves_nothing(tmp_path: Path):
    def stop(done: int, total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        FrameStore.of(memory_dataset(DEMOS), folder=tmp_path / "frames", progress=stop)
    assert list(tmp_path.iterdir()) == []


def test_a_cameras_name_is_no_path(tmp_path: Path):
    demos = [dataclasses.replace(demo, images={"../../x": demo.images["agentview"]}) for demo in DEMOS[:2]]
    store = FrameStore.of(memory_dataset(demos), folder=tmp_path / "deep" / "frames")
    assert [path.name for path in tmp_path.iterdir()] == ["deep"]
    np.testing.assert_array_equal(store.read("../../x", np.array([3])), demos[0].images["../../x"][3:4])


def test_a_damaged_store_is_named(tmp_path: Path):
    store = FrameStore.of(memory_dataset(DEMOS), folder=tmp_path / "frames")
    (store.folder / "camera_0.u8").write_bytes(b"short")
    with pytest.raises(DataError, match="the image cache is damaged"):
        FrameStore(store.folder)


def test_moving_and_slicing_a_batch():
    batch = ChunkSampler(memory_dataset(DEMOS)).sample(8, torch.Generator().manual_seed(0))
    half = batch.to("cpu", torch.float64)[2:5]
    assert len(half) == 3
    assert half.actions.dtype == half.observations["gripper"].dtype == torch.float64
    assert half.step.dtype == torch.int64
    assert torch.equal(half.step, batch.step[2:5])
    assert half.action_spec is batch.action_spec


@pytest.mark.parametrize(
    ("demos", "text"),
    [
        (synthetic_demos(2, with_object=False, with_signals=False), None),
        (
            [dataclasses.replace(demo, actions=np.zeros((len(demo), 7)), object_position=None, subtask_signals={})
             for demo in synthetic_demos(1)],
            "memory > demo_0 > object_position: neither an object position nor a grasp to take it from",
        ),
        (
            [*synthetic_demos(1), *synthetic_demos(1, spec=ACTION_SPECS["osc-absolute"])],
            "memory > kind, position_scale_m, rotation_scale_rad: the action specs of demo_0 and demo_0 differ",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_sampled(demos: list[Demo], text: str | None):
    if text is None:
        ChunkSampler(memory_dataset(demos))
        return
    with pytest.raises(DataError) as raised:
        ChunkSampler(memory_dataset(demos))
    assert str(raised.value).startswith(text)


def test_a_demo_shorter_than_a_chunk():
    with pytest.raises(DataError) as raised:
        ChunkSampler(memory_dataset(synthetic_demos(1)), ChunkWindow(prediction_horizon=100, pad_after=7))
    assert str(raised.value) == (
        "memory > demo_0: the demonstration is shorter than a chunk; found 60 steps; expected at least 93 (chunks of "
        "100 less 7 of padding); to mend it: leave it out, or choose a shorter prediction horizon"
    )


@pytest.mark.parametrize(
    "window", [{"prediction_horizon": 0}, {"observation_steps": 0}, {"pad_after": 16}, {"pad_after": -1}]
)
def test_windows_that_make_no_sense(window: dict):
    with pytest.raises(SettingError, match=next(iter(window))):
        ChunkWindow(**window)


def test_windows_are_counted_in_whole_steps():
    window = ChunkWindow()
    object.__setattr__(
        window, "prediction_horizon", 16.0
    )  # the type checker of the tests would stop it before the door
    with pytest.raises(SettingError, match=r"prediction_horizon: not a whole number; found 16\.0"):
        window.__post_init__()


def with_poses(demo: Demo, world_from_base: Pose, **positions: np.ndarray) -> Demo:
    poses = {
        f"datagen_info/object_poses/{name}": (world_from_base @ Pose(position, [1.0, 0.0, 0.0, 0.0])).matrix
        for name, position in positions.items()
    }
    return dataclasses.replace(demo, recorded=poses)


def test_landmarks_are_seen_in_the_base_frame():
    world_from_base = Pose((-0.56, 0.1, 0.912), (0.8, 0.0, 0.0, 0.6))
    cubes = [np.linspace([0.5, 0.1, 0.0], [0.6, 0.2, 0.1], len(demo)) + index for index, demo in enumerate(DEMOS)]
    demos = [with_poses(demo, world_from_base, cubeB=cube) for demo, cube in zip(DEMOS, cubes, strict=True)]
    dataset = memory_dataset(demos, world_from_base=world_from_base)
    sampler = ChunkSampler(dataset, landmarks=["cubeB"])
    batch = sampler.batch(torch.arange(len(sampler)))
    assert batch.observations["landmark.cubeB"].shape == (len(sampler), 2, 3)
    for row in range(0, len(sampler), 7):
        expected = cubes[batch.demo_index[row]][batch.step[row]]
        np.testing.assert_allclose(batch.observations["landmark.cubeB"][row, -1], expected, atol=1e-6)
    with pytest.raises(DataError, match=r"demo_0 > landmarks: no such object's poses; found 'peg'; expected.*cubeB"):
        ChunkSampler(dataset, landmarks=["peg"])


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (
            lambda poses: np.where(np.arange(len(poses))[:, None, None] == 3, np.nan, poses),
            r"not a finite .* at step 3",
        ),
        (
            lambda poses: poses[:, 0].repeat(7, 1)[:, :7],
            r"wrong shape; found float64\[\d+, 7\]; expected .*\[T, 4, 4\]",
        ),
        (lambda poses: poses[:, :, :3], r"wrong shape; found float64\[\d+, 4, 3\]"),
        (lambda poses: poses.astype("S8"), r"wrong shape; found \|S8"),
    ],
)
def test_landmarks_that_are_no_poses(change: Callable[[np.ndarray], np.ndarray], text: str):
    demo = with_poses(DEMOS[1], Pose.identity(), cubeB=np.zeros((len(DEMOS[1]), 3)))
    poses = change(demo.recorded["datagen_info/object_poses/cubeB"])
    bad = dataclasses.replace(demo, recorded={"datagen_info/object_poses/cubeB": poses})
    with pytest.raises(DataError, match=rf"memory > demo_1 > datagen_info/object_poses/cubeB: {text}"):
        ChunkSampler(memory_dataset([bad]), landmarks=["cubeB"])


def test_an_empty_batch():
    sampler = ChunkSampler(memory_dataset(DEMOS))
    for batch in (sampler.batch(torch.tensor([], dtype=torch.int64)), sampler.sample(0, torch.Generator())):
        assert len(batch) == 0
        assert batch.actions.shape == (0, 16, 7)
        assert batch.observations["eef_rot6d"].shape == (0, 2, 6)
        assert batch.object_position.shape == (0, 2, 3)


@pytest.mark.parametrize("row", [-1, 10**6])
def test_transitions_that_are_not_there(row: int):
    sampler = ChunkSampler(memory_dataset(DEMOS))
    with pytest.raises(SettingError, match=f"no such transition; found {row}; expected 0 to {len(sampler) - 1}"):
        sampler.batch(torch.tensor([0, row]))


def test_batches_of_a_size_that_makes_no_sense():
    sampler = ChunkSampler(memory_dataset(DEMOS))
    with pytest.raises(SettingError, match="batch_size: too small; found -1; expected at least 0"):
        sampler.sample(-1, torch.Generator())
    with pytest.raises(SettingError, match="batch_size: too small; found 0; expected at least 1"):
        next(sampler.epoch(0, torch.Generator()))


def test_tables_are_of_floating_point_numbers():
    with pytest.raises(SettingError, match=r"dtype: not a floating-point type; found torch\.int64"):
        ChunkSampler(memory_dataset(DEMOS), dtype=torch.int64)


def test_numbers_are_all_that_batches_are_made_of():
    numbers = ChunkSampler(memory_dataset(DEMOS)).numbers
    assert sorted(numbers) == ["actions", "eef_position", "eef_rot6d", "gripper", "object_position"]
    np.testing.assert_allclose(numbers["actions"], np.concatenate([demo.actions for demo in DEMOS]), atol=1e-6)
    np.testing.assert_allclose(
        numbers["object_position"], np.concatenate([demo.object_position for demo in DEMOS]), atol=1e-6
    )
