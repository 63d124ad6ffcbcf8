"""What is shown beside success, from logs, datasets and studies whose answers are known."""

from __future__ import annotations

import dataclasses
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

from memory_source import synthetic_demos
from sido.demos.demo import Grasp
from sido.errors import DataError
from sido.evaluate import Tracking
from sido.experiments import Shown
from sido.experiments.exhibits.tracking import _slope
from sido.experiments.exhibits.views import _apart
from sido.experiments.exhibits.wrist_views import Views, joined, keep_views, read_views
from sido.experiments.plots import Cloud, Line, _ticks, lines, scatter


def following(slope: float, episodes: int = 6, noise_m: float = 0.0) -> list[Tracking]:
    rng = np.random.default_rng(0)
    parts: list[Tracking] = []
    for _ in range(episodes):
        objects = rng.uniform(-0.1, 0.1, (4, 3))
        parts.append(Tracking(slope * objects + rng.normal(0.0, noise_m, (4, 3)), objects))
    return parts


@pytest.mark.parametrize("slope", [0.0, 0.62, 1.0])
def test_a_slope_is_found_and_its_interval_holds_it(slope: float):
    found, interval = _slope(following(slope), 0)
    assert found == pytest.approx(slope)
    assert interval == pytest.approx((slope, slope))
    noisy, interval = _slope(following(slope, 40, noise_m=0.01), 0)
    assert interval is not None
    assert interval[0] < noisy < interval[1]
    assert interval[0] < slope < interval[1]
    assert _slope([], 0) == (None, None)


def test_demonstrations_have_a_slope():
    """Their commanded hand, where the chunks of T_a actions end, over objects that lie elsewhere in each."""
    (demo,) = synthetic_demos(1)
    demo = dataclasses.replace(demo, grasp=Grasp(30, "the test"))
    spec = dataclasses.replace(
        demo.action_spec, kind="absolute", frame="base", position_scale_m=1.0, rotation_scale_rad=1.0
    )
    actions = demo.actions.copy()
    actions[:, 0] = np.arange(len(actions))
    absolute = dataclasses.replace(demo, actions=actions, action_spec=spec)
    found = Tracking.of_demo(absolute)
    ends = np.array([8, 16, 24])
    np.testing.assert_array_equal(found.commanded[:, 0], ends - 1)
    assert demo.object_position is not None
    np.testing.assert_array_equal(found.objects, demo.object_position[ends])
    with pytest.raises(DataError, match="absolute goals"):
        Tracking.of_demo(demo)


def test_the_distance_ratio_is_one_within_what_was_shown():
    rng = np.random.default_rng(1)
    demos, whose = rng.normal(size=(300, 4)), np.repeat(np.arange(30), 10)
    assert _apart(demos, whose, rng.normal(size=(300, 4))) == pytest.approx(1.0, abs=0.15)
    assert _apart(demos, whose, rng.normal(size=(300, 4)) + 20.0) > 10.0
    assert _apart(demos, whose, demos) == 0.0


def test_views_are_kept(tmp_path: Path):
    views = Views(np.arange(24, dtype=np.uint8).reshape(2, 2, 2, 3), np.array([7, 7]), np.array([False, True]))
    keep_views(tmp_path / "a" / "views.npz", joined([views, views]))
    read = read_views(tmp_path / "a" / "views.npz")
    np.testing.assert_array_equal(read.images, np.concatenate([views.images, views.images]))
    assert read.closing.tolist() == [False, True, False, True]


def elements(html: str, tag: str) -> list[ElementTree.Element]:
    return ElementTree.fromstring(f"<div>{html}</div>").findall(f".//{tag}")


def test_plots_show_every_point():
    drawn = lines(
        [
            Line("a <b>", "c0", ((0.0, 0.5), (2.0, 1.0)), ((0.4, 0.6), (0.9, 1.0))),
            Line("paper's", "c0", ((0.0, 0.2),), dashed=True),
        ],
        x="speed", y="success", label="l", y_range=(0.0, 1.0),
    )  # fmt: skip
    assert len(elements(drawn, "circle")) == 3
    assert len(elements(drawn, "li")) == 2
    assert "a &lt;b&gt;" in drawn
    cloud = scatter([Cloud("p", "rest", ((1.0, 2.0), (3.0, 4.0)), square=True)], x="x", y="y", label="l",
                    slopes=[(1.0, 0.0, "c1")])  # fmt: skip
    assert len(elements(cloud, "rect")) == 2
    assert scatter([], x="", y="", label="") == lines([], x="", y="", label="") == ""


def test_higher_values_are_drawn_higher():
    drawn = scatter([Cloud("p", "c0", ((0.0, 0.0), (1.0, 2.0)))], x="", y="", label="")
    low, high = elements(drawn, "circle")
    assert float(low.attrib["cy"]) > float(high.attrib["cy"])
    assert float(low.attrib["cx"]) < float(high.attrib["cx"])


@pytest.mark.parametrize("reach", [(0.0, 1.0), (-0.3, 0.4), (12.0, 4711.0), (0.1003, 0.1009)])
def test_ticks_are_some_five_round_numbers_within(reach: tuple[float, float]):
    ticks = _ticks(reach)
    assert 2 <= len(ticks) <= 7
    assert all(reach[0] - 1e-9 <= tick <= reach[1] + 1e-9 for tick in ticks)
    np.testing.assert_allclose(np.diff(ticks), ticks[1] - ticks[0], rtol=1e-4)


def test_what_is_shown_as_markdown():
    shown = Shown("T", ("a", "b"), (("x", "1"),), "so it is")
    assert shown.markdown() == "**T**\n\n| a | b |\n|---|---|\n| x | 1 |\n\nso it is\n"
