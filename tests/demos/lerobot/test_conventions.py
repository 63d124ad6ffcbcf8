from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from sido.demos.action_spec import ACTION_SPECS
from sido.demos.lerobot import LeRobotSource
from sido.demos.lerobot.conventions import state_layout
from sido.demos.lerobot.layout import DatasetLayout, Feature
from sido.demos.source import Hints
from sido.errors import DataError

ROTATION = Rotation.from_rotvec([0.3, -0.5, 1.1])
POSITION = [0.5, 0.1, 0.2]


def layout_of(*names: str, size: int | None = None):
    return state_layout(Feature("float32", (len(names) if size is None else size,), names), file="meta/info.json")


@pytest.mark.parametrize(
    ("names", "rotation", "rest"),
    [
        ("x y z qx qy qz qw gripper", ROTATION.as_quat(), [0.04]),
        ("x y z roll pitch yaw pad gripper", [*ROTATION.as_euler("xyz"), 0.0], [0.04]),
        ("ee.x ee.y ee.z ee.wx ee.wy ee.wz ee.gripper_pos", ROTATION.as_rotvec(), [0.04]),
        ("eef_pos_x eef_pos_y eef_pos_z axis_angle_x axis_angle_y axis_angle_z finger_left finger_right",
         ROTATION.as_rotvec(), [0.04, -0.04]),
    ],
)  # fmt: skip
def test_names_tell(names: str, rotation: Any, rest: list[float]):
    layout = layout_of(*names.split())
    assert layout.warning is None
    state = np.array([[*POSITION, *rotation, *rest]] * 2)
    np.testing.assert_allclose(state[:, list(layout.position)], [POSITION] * 2)
    np.testing.assert_allclose(state[:, list(layout.gripper)], [rest] * 2)
    x, y, z, w = layout.quat_wxyz(state)[0][[1, 2, 3, 0]]
    assert (Rotation.from_quat([x, y, z, w]).inv() * ROTATION).magnitude() < 1e-12


def test_names_in_another_order_tell_too():
    layout = layout_of(*["gripper", "qw", "qx", "qy", "qz", "z", "y", "x"])
    assert layout.position == (7, 6, 5)
    assert layout.rotation == (2, 3, 4, 1)
    assert layout.gripper == (0,)


@pytest.mark.parametrize(
    ("size", "form", "gripper"), [(9, "quat_xyzw", (7, 8)), (8, "axis_angle", (6, 7)), (7, "axis_angle", (6,))]
)
def test_sizes_are_believed_with_a_warning(size: int, form: str, gripper: tuple[int, ...]):
    for names in ((), tuple(f"motor_{index}" for index in range(size))):
        layout = layout_of(*names, size=size)
        assert (layout.rotation_form, layout.gripper) == (form, gripper)
        assert layout.warning is not None
        assert f"{size} entries" in layout.warning


@pytest.mark.parametrize(
    ("feature", "message"),
    [
        (None, "no vector of the robot's state; found nothing"),
        (Feature("float32", (3, 3)), r"found shape \[3, 3\]"),
        (Feature("float32", (14,)), "14 entries, named not at all; expected 7, 8, 9 entries, or names that tell"),
        (Feature("float32", (4,), ("x", "y", "z", "gripper")), "cannot tell where the end-effector"),
        (Feature("float32", (9,), tuple(f"joint_{n}" for n in range(9))), "joint space.*joint_0.*kinematics"),
        (Feature("float32", (6,), ("shoulder_pan.pos", "b", "c", "d", "e", "gripper.pos")), "joint space"),
        (Feature("float32", (6,), ("left_x", "left_y", "left_z", "right_x", "right_y", "right_z")), "cannot tell"),
    ],
)
def test_what_cannot_be_understood_is_refused(feature: Feature | None, message: str):
    with pytest.raises(DataError, match=message):
        state_layout(feature, file="meta/info.json")


def test_a_quaternion_that_is_none_is_refused():
    layout = layout_of(size=9)
    with pytest.raises(DataError, match="no unit quaternion"):
        layout.quat_wxyz(np.full((3, 9), 0.9))


Edit = Callable[[dict[str, Any]], None]


@pytest.fixture
def foreign(dataset: Path, tmp_path: Path) -> Callable[..., Path]:
    """The dataset as someone else might have written it: without sido's notes, its `info.json` changed."""

    def make(edit: Edit = dict, stats: Edit | None = None) -> Path:
        root = tmp_path / "foreign"
        shutil.copytree(dataset, root)
        (root / "meta/sido.json").unlink()
        for name, change in (("info.json", edit), ("stats.json", stats)):
            if change is None:
                continue
            document = json.loads((root / "meta" / name).read_text())
            change(document)
            (root / "meta" / name).write_text(json.dumps(document))
        return root

    return make


def set_size(size: int) -> Edit:
    def edit(document: dict[str, Any]) -> None:
        document["features"]["action"] |= {"shape": [size], "names": None}

    return edit


def test_seven_entries_within_one_are_relative_at_the_rate_of_the_file(foreign: Callable[..., Path]):
    info = LeRobotSource(foreign(lambda document: document.update(fps=10))).info
    assert info.action_spec == dataclasses.replace(ACTION_SPECS["osc-delta"], rate_hz=10.0)
    assert any("10 Hz" in warning and "--action-spec" in warning for warning in info.warnings)


def test_ten_entries_are_absolute(foreign: Callable[..., Path]):
    info = LeRobotSource(foreign(set_size(10))).info
    assert info.action_spec == ACTION_SPECS["rot6d-absolute"]
    assert any("rot6d-absolute" in warning for warning in info.warnings)


def test_without_statistics_seven_entries_are_assumed_to_be_within_one(foreign: Callable[..., Path]):
    root = foreign()
    (root / "meta/stats.json").unlink()
    assert LeRobotSource(root).info.action_spec == ACTION_SPECS["osc-delta"]


@pytest.mark.parametrize("side", [[], [[]], None, [0.5] * 6 + [float("nan")]])
def test_damaged_statistics_say_how_to_do_without_them(side: Any, foreign: Callable[..., Path]):
    root = foreign(stats=lambda document: document.update(action={"min": side, "max": side}))
    with pytest.raises(DataError, match=r"stats\.json > action: the statistics are damaged; .*name .*--action-spec"):
        LeRobotSource(root)
    LeRobotSource(root, Hints(action_spec=ACTION_SPECS["osc-delta"])).read(0)


def test_larger_actions_and_other_sizes_are_refused(foreign: Callable[..., Path]):
    root = foreign(stats=lambda document: document["action"].update(max=[2.0] * 7))
    with pytest.raises(DataError, match=r"7 entries, from -1 to 2; expected 7 within -1..1.*--action-spec"):
        LeRobotSource(root)
    shutil.rmtree(root)
    with pytest.raises(DataError, match=r"8 entries.*joint-space actions must first be converted"):
        LeRobotSource(foreign(set_size(8)))


def test_hints_override(foreign: Callable[..., Path]):
    spec = dataclasses.replace(ACTION_SPECS["osc-absolute"], rate_hz=10.0)
    hints = Hints(action_spec=spec, object_key="recorded.obs.object", cameras=("robot0_eye_in_hand",))
    source = LeRobotSource(foreign(), hints)
    assert source.info.action_spec == ACTION_SPECS["osc-absolute"]  # at the file's 20 Hz
    assert any("10 Hz, the dataset 20" in warning for warning in source.info.warnings)
    assert source.info.cameras == ("robot0_eye_in_hand",)
    assert source.info.object_position_source == "the first three numbers of recorded.obs.object"
    demo = source.read(0)
    np.testing.assert_array_equal(demo.object_position, demo.recorded["recorded.obs.object"][:, :3])
    assert "observation.environment_state" in demo.recorded  # now that it is nothing else
    assert list(demo.images) == ["robot0_eye_in_hand"]


def test_hints_name_recorded_arrays_by_their_own_path(dataset: Path):
    source = LeRobotSource(dataset, Hints(object_key="obs/object"))
    demo = source.read(0)
    np.testing.assert_array_equal(demo.object_position, demo.recorded["obs/object"][:, :3])


def test_wrong_hints_are_told_what_there_is(dataset: Path):
    with pytest.raises(DataError, match="no such camera; found front; expected agentview, robot0_eye_in_hand"):
        LeRobotSource(dataset, Hints(cameras=("front",)))
    with pytest.raises(DataError, match=r"obs/cube: no such array.*expected one of .*obs/object"):
        LeRobotSource(dataset, Hints(object_key="obs/cube"))


def test_a_dataset_without_the_object_is_read_with_a_warning(foreign: Callable[..., Path]):
    source = LeRobotSource(foreign(lambda document: document["features"].pop("observation.environment_state")))
    assert source.info.object_position_source is None
    assert any("--object-key" in warning for warning in source.info.warnings)
    assert source.read(0).object_position is None


def test_entries_of_the_state_without_a_meaning_are_kept(foreign: Callable[..., Path]):
    names = ["x", "y", "z", "qx", "qy", "qz", "qw", "gripper", "temperature"]
    demo = LeRobotSource(foreign(lambda document: document["features"]["observation.state"].update(names=names))).read(
        0
    )
    assert demo.gripper.shape == (60, 1)
    assert demo.recorded["observation.state"].shape == (60, 9)


def test_what_is_left_out_is_told(foreign: Callable[..., Path]):
    def edit(document: dict[str, Any]) -> None:
        document["features"]["observation.images.agentview"]["info"] = {"is_depth_map": True}
        document["features"]["instruction"] = {"dtype": "string", "shape": [1], "names": None}

    source = LeRobotSource(foreign(edit))
    assert "left out, because they are no RGB cameras: observation.images.agentview" in source.info.warnings
    assert "left out, because they hold no numbers: instruction" in source.info.warnings
    assert list(source.read(0).images) == ["robot0_eye_in_hand"]


@pytest.mark.parametrize(
    ("shape", "names", "size"),
    [
        ((480, 640, 3), ("height", "width", "channels"), (480, 640)),
        ((3, 480, 640), ("channels", "height", "width"), (480, 640)),
        ((3, 480, 640), (), (480, 640)),
        ((3, 480, 3), ("channels", "height", "width"), (480, 3)),
        ((480, 640, 1), ("height", "width", "channels"), None),
        ((480, 640), (), None),
    ],
)
def test_image_sizes_are_found_whichever_way_they_are_told(shape: Any, names: Any, size: Any):
    assert Feature("image", shape, names).image_size == size


def test_names_of_all_kinds_are_flattened(foreign: Callable[..., Path]):
    def edit(document: dict[str, Any]) -> None:
        document["features"]["action"]["names"] = {"motors": list("abcdefg")}
        document["features"]["observation.environment_state"]["names"] = {"y": 1, "x": 0, "z": 2}

    features = DatasetLayout.read(foreign(edit)).features
    assert features["action"].names == tuple("abcdefg")
    assert features["observation.environment_state"].names == ("x", "y", "z")
