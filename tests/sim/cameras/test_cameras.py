"""Images show what is there, where the lens says, whatever is left out to be quick."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import mujoco
import numpy as np
import pytest

from sido.errors import SettingError
from sido.sim.cameras import FAST, PRETTY, Cameras, Quality
from sido.sim.scene import Scene
from sido.sim.tasks import Stack
from sido.sim.vector_environment import VectorEnvironment
from sim.small_scene import small_scene, state_of

NAMES = ("front", "above")
PLACES = ((0.0, 0.0, 0.4), (0.2, -0.15, 0.3), (-0.2, 0.2, 0.55))


@pytest.fixture(scope="module")
def scene() -> Scene:
    return small_scene()


@pytest.fixture(scope="module")
def cameras(scene: Scene) -> Iterator[Cameras]:
    with Cameras(scene, NAMES, size=(120, 160)) as made:
        yield made


def with_ball(scene: Scene, place: tuple[float, float, float]) -> mujoco.MjData:
    return state_of(scene, np.array([*place, 1.0, 0.0, 0.0, 0.0]))


def yellow(image: np.ndarray) -> np.ndarray:
    red, green, blue = image.astype(int).transpose(2, 0, 1)
    return (red > 120) & (green > 120) & (blue < 60)


@pytest.mark.parametrize("place", PLACES)
def test_a_point_is_where_the_lens_projects_it(scene: Scene, cameras: Cameras, place):
    data = with_ball(scene, place)
    base = scene.arm.world_from_base.inverse()
    for name, image in cameras.render(data).items():
        rows, columns = np.nonzero(yellow(image))
        assert len(rows) > 20
        in_camera = cameras.base_from_camera(name, data).inverse().apply(base.apply(np.array(place)))
        u, v = cameras.lens(name).project(in_camera)
        assert (columns + 0.5).mean() == pytest.approx(u, abs=0.6), name
        assert (rows + 0.5).mean() == pytest.approx(v, abs=0.6), name
        area = np.pi * (0.03 * cameras.lens(name).focal_px / in_camera[2]) ** 2
        assert len(rows) == pytest.approx(area, rel=0.25), "and as large as a pinhole shows it"


def test_colours_are_in_order_and_what_is_hidden_is_not_seen(scene: Scene, cameras: Cameras):
    red, green, blue = cameras.render(state_of(scene))["front"][10, 80].astype(int)
    assert red < green < blue, "the wall is bluish"
    for image in cameras.render(state_of(scene)).values():
        magenta = (image[..., 0] > 150) & (image[..., 1] < 80) & (image[..., 2] > 150)
        assert not magenta.any(), "collision shapes are not drawn"


def test_rendering_repeats_and_changes_no_state(scene: Scene, cameras: Cameras):
    data = with_ball(scene, PLACES[1])
    before = {name: getattr(data, name).copy() for name in ("qpos", "qvel", "xpos", "geom_xpos", "cam_xpos")}
    first, again = cameras.render(data), cameras.render(data)
    with Cameras(scene, NAMES, size=(40, 40), quality=PRETTY) as others:
        others.render(with_ball(scene, PLACES[2]))
        between = cameras.render(data)
    for name in NAMES:
        np.testing.assert_array_equal(again[name], first[name])
        np.testing.assert_array_equal(between[name], first[name], err_msg="others do not disturb it")
    for name, values in before.items():
        np.testing.assert_array_equal(getattr(data, name), values)


def test_only_the_cameras_that_are_asked(scene: Scene, cameras: Cameras):
    assert list(cameras.render(state_of(scene), ["above"])) == ["above"]


def test_a_caption_stands_in_the_first_image(scene: Scene):
    with Cameras(scene, NAMES, size=(96, 96)) as views:
        plain, told = views.render(state_of(scene)), views.render(state_of(scene), caption="seed 3")
    np.testing.assert_array_equal(told["above"], plain["above"])
    changed = np.argwhere((told["front"] != plain["front"]).any(axis=2))
    assert len(changed) > 10
    assert changed[:, 0].min() > 48, "in the lower half"


@pytest.mark.parametrize("name", ["agentview", "robot0_eye_in_hand", "spectator", "closeview"])
def test_what_is_left_out_changes_no_pixel(stack: Stack, name: str, monkeypatch: pytest.MonkeyPatch):
    """Against drawing everything: geoms beside the image or behind the table, and faces that never show."""
    rng = np.random.default_rng(0)
    with VectorEnvironment(stack, envs=3) as world:
        world.reset([1, 2, 3])
        states = [world.scenery(i) for i in range(3)]
        for data in states:
            data.qpos[:7] += rng.uniform(-0.5, 0.5, 7)
            mujoco.mj_forward(stack.scene.model, data)
        with Cameras(stack.scene, [name], size=(64, 64)) as quick:
            images = [quick.render(data)[name] for data in states]
        monkeypatch.setattr(Quality, "draws_all", property(lambda _: True))
        with Cameras(stack.scene, [name], size=(64, 64)) as slow:
            for image, data in zip(images, states, strict=True):
                np.testing.assert_array_equal(image, slow.render(data)[name])


def test_simple_meshes_look_like_the_whole_ones(stack: Stack):
    """To about a pixel: blurred a little, the images agree."""
    whole = Quality(**{**vars(FAST), "detail_px": 0.0})
    with VectorEnvironment(stack, envs=1) as world:
        world.reset([1])
        pair = []
        for quality in (FAST, whole):
            with Cameras(stack.scene, ["agentview"], size=(84, 84), quality=quality) as cameras:
                pair.append(cameras.render(world.scenery(0))["agentview"].astype(float))
    blurred = [image.reshape(28, 3, 28, 3, 3).mean(axis=(1, 3)) for image in pair]
    assert np.abs(blurred[0] - blurred[1]).mean() < 2.0
    assert np.abs(pair[0] - pair[1]).max() > 0, "they are simplified"


# --- what cannot be


def test_closed_in_another_thread_or_of_another_scene(scene: Scene, stack: Stack, cameras: Cameras):
    data = state_of(scene)
    closed = Cameras(scene, NAMES, size=(8, 8))
    closed.close()
    closed.close()
    with pytest.raises(SettingError, match="these cameras are closed"):
        closed.render(data)
    told: list[Exception] = []

    def elsewhere() -> None:
        try:
            cameras.render(data)
        except SettingError as error:
            told.append(error)

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert "only in the thread that made them" in str(told[0])
    with pytest.raises(SettingError, match="data: not a state of small"):
        cameras.render(mujoco.MjData(stack.scene.model))
    with pytest.raises(SettingError, match="no such camera here; found 'left'; expected front, above"):
        cameras.render(data, ["left"])


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"names": ["frnt"]}, "small has no such camera; found 'frnt'; expected front, above"),
        ({"names": []}, "not a list of cameras"),
        ({"names": ["front", "front"]}, "not a list of cameras"),
        ({"size": (0, 8)}, r"size: not the size of an image; found \(0, 8\)"),
        ({"size": (8.5, 8)}, r"found \(8.5, 8\); expected \(height, width\) in pixels, whole numbers from 1 to 16384"),
        ({"size": (8, 2**40)}, "size: not the size of an image"),
    ],
)
@pytest.mark.usefixtures("as_user")
def test_cameras_that_cannot_be(scene: Scene, options: dict, complaint: str):
    with pytest.raises(SettingError, match=complaint):
        Cameras(scene, **{"names": NAMES, **options})


@pytest.mark.parametrize("field", ["samples", "detail_px", "slices", "squares", "tile_m"])
def test_qualities_that_cannot_be(field: str):
    with pytest.raises(SettingError, match=f"Quality.{field}: not a usable number; found -1"):
        Quality(**{**vars(FAST), field: -1})
