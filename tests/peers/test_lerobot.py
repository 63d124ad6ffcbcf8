"""lerobot opens what sido writes, and sido reads what lerobot writes."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from demos.lerobot.examples import INFO, make_demo
from peers.environments import peer_python
from sido.demos.demo import Demo
from sido.demos.lerobot import LeRobotSource, LeRobotWriter

SCRIPT = Path(__file__).with_name("read_lerobot.py")


def lerobot(*arguments: object) -> str:
    python = peer_python("lerobot")
    done = subprocess.run(
        [python, SCRIPT, *map(str, arguments)],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONWARNINGS": "ignore"},
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def demos() -> list[Demo]:
    return [make_demo(seed, steps=60 + 3 * seed, image_size=32) for seed in range(3)]


@pytest.fixture(scope="module", params=["image", "video"])
def opened(
    request: pytest.FixtureRequest, demos: list[Demo], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    """What lerobot finds in a dataset that sido wrote."""
    path = tmp_path_factory.mktemp("written") / request.param
    with LeRobotWriter(path, INFO, video=request.param == "video") as writer:
        for demo in demos:
            writer.write(demo)
    return {"camera": request.param, "path": path, **json.loads(lerobot("read", path).splitlines()[-1])}


def test_lerobot_counts_what_sido_wrote(opened: dict[str, Any], demos: list[Demo]):
    assert (opened["episodes"], opened["frames"], opened["frames_of_last"]) == (3, 189, 66)
    assert opened["fps"] == 20
    assert opened["features"]["observation.images.agentview"] == [opened["camera"], [32, 32, 3]]
    assert opened["features"]["recorded.states"] == ["float64", [45]]


def test_lerobot_reads_every_number_that_sido_wrote(opened: dict[str, Any], demos: list[Demo]):
    index_of = [(episode, step) for episode, demo in enumerate(demos) for step in range(len(demo))]
    assert set(map(int, opened["items"])) == {0, 1, 94, 188}
    for place, item in opened["items"].items():
        episode, step = index_of[int(place)]
        demo = demos[episode]
        quat_xyzw = np.roll(demo.eef_quat_wxyz[step], -1)
        state = np.concatenate([demo.eef_position[step], quat_xyzw, demo.gripper[step]])
        np.testing.assert_allclose(item["observation.state"], state, atol=1e-6)
        np.testing.assert_allclose(item["observation.environment_state"], demo.object_position[step], atol=1e-6)
        np.testing.assert_allclose(item["action"], demo.actions[step], atol=1e-6)
        np.testing.assert_allclose(item["recorded.obs.object"], demo.recorded["obs/object"][step], rtol=1e-6)
        assert item["next.done"] == bool(demo.recorded["dones"][step])
        assert (item["episode_index"], item["frame_index"], item["task"]) == (episode, step, demo.task)
        assert item["timestamp"] == pytest.approx(step / 20)


def test_lerobot_sees_the_images_that_sido_wrote(opened: dict[str, Any], demos: list[Demo]):
    index_of = [(episode, step) for episode, demo in enumerate(demos) for step in range(len(demo))]
    source = LeRobotSource(opened["path"])
    for place, item in opened["items"].items():
        episode, step = index_of[int(place)]
        for camera in ("agentview", "robot0_eye_in_hand"):
            image = np.array(item[f"observation.images.{camera}"]).transpose(1, 2, 0) * 255
            np.testing.assert_allclose(image, source.read(episode).images[camera][step], atol=1e-3)
            if opened["camera"] == "image":
                np.testing.assert_allclose(image, demos[episode].images[camera][step], atol=1e-3)


def test_lerobot_makes_windows_of_what_sido_wrote(opened: dict[str, Any], demos: list[Demo]):
    first = opened["windows"]["0"]
    assert first["action_is_pad"] == [True, False, False]
    np.testing.assert_allclose(first["action"], demos[0].actions[[0, 0, 1]], atol=1e-6)
    last = opened["windows"]["188"]
    assert last["action_is_pad"] == [False, False, True]
    np.testing.assert_allclose(last["action"], demos[2].actions[[-2, -1, -1]], atol=1e-6)


def test_lerobot_reads_the_statistics_that_sido_wrote(opened: dict[str, Any], demos: list[Demo]):
    actions = np.concatenate([demo.actions for demo in demos])
    np.testing.assert_allclose(opened["stats"]["action"]["std"], actions.std(axis=0), atol=1e-6)
    np.testing.assert_allclose(opened["stats"]["action"]["q99"], np.quantile(actions, 0.99, axis=0), atol=1e-6)
    assert np.shape(opened["stats"]["observation.images.agentview"]["mean"]) == (3, 1, 1)


@pytest.mark.parametrize("camera", ["image", "video"])
def test_sido_reads_what_lerobot_wrote(camera: str, tmp_path: Path):
    lerobot("write", tmp_path / "peer", camera)
    source = LeRobotSource(tmp_path / "peer")
    assert source.info.format == "LeRobot v3.0"
    assert source.info.object_position_source == "the first three numbers of observation.environment_state"
    assert [source.length(index) for index in range(2)] == [12, 7]
    for episode in (1, 0):
        demo = source.read(episode)
        steps = np.arange(len(demo))
        assert demo.task == f"task {episode}"
        np.testing.assert_allclose(demo.eef_position[:, 0], 0.5 + 0.01 * steps, atol=1e-6)
        np.testing.assert_allclose(demo.eef_quat_wxyz, [[0, 1, 0, 0]] * len(demo))
        np.testing.assert_allclose(
            demo.actions[:, :2], np.stack([0.1 * episode + 0 * steps, 0.01 * steps], 1), atol=1e-6
        )
        np.testing.assert_allclose(demo.object_position, [[0.6, 0.01 * episode, 0.02]] * len(demo), atol=1e-6)
        np.testing.assert_array_equal(demo.recorded["extra"], np.arange(6.0).reshape(1, 2, 3) + steps[:, None, None])
        np.testing.assert_array_equal(demo.recorded["next.done"], steps == len(demo) - 1)
        pixels = demo.images["agentview"][:].reshape(len(demo), -1, 3).mean(axis=1)
        expected = np.stack([20 * steps, 100 * episode + 0 * steps, 128 + 0 * steps], axis=1)
        assert np.abs(pixels - expected).max() <= (4 if camera == "video" else 0)


def test_a_copy_of_what_lerobot_wrote_keeps_everything(tmp_path: Path):
    lerobot("write", tmp_path / "peer", "image")
    source = LeRobotSource(tmp_path / "peer")
    with LeRobotWriter(tmp_path / "copy", source.info) as writer:
        for index in range(2):
            writer.write(source.read(index))
    copy = LeRobotSource(tmp_path / "copy")
    for index in range(2):
        first, second = source.read(index), copy.read(index)
        np.testing.assert_array_equal(first.actions, second.actions)
        np.testing.assert_array_equal(first.recorded["extra"], second.recorded["extra"])
        np.testing.assert_array_equal(first.images["agentview"][:], second.images["agentview"][:])
    assert copy.info.action_spec == source.info.action_spec
