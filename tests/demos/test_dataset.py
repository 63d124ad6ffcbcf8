"""Demonstrations by number, name, slice and subset; what is worked out for every format; changes on the way."""

from __future__ import annotations

import dataclasses
import pickle
from pathlib import Path

import numpy as np
import pytest

from memory_source import memory_dataset, synthetic_demos
from sido.demos import ACTION_SPECS, DemoDataset, Grasp, create_dataset, open_dataset, summarise, to_absolute
from sido.demos.dataset import OBJECT_FROM_GRASP
from sido.demos.formats import FORMATS, format_of
from sido.errors import DataError, SettingError

DEMOS = synthetic_demos(12)


@pytest.fixture
def dataset() -> DemoDataset:
    return memory_dataset(DEMOS, filter_keys={"train": ("demo_11", "demo_2"), "ghost": ("demo_99",), "none": ()})


def test_by_number_name_slice_and_in_order(dataset: DemoDataset):
    assert len(dataset) == 12
    assert dataset[3].name == dataset["demo_3"].name == "demo_3"
    assert dataset[-1].name == "demo_11"
    assert [demo.name for demo in dataset] == [demo.name for demo in DEMOS]
    assert dataset[2:8:3].names == ("demo_2", "demo_5")
    assert dataset[2:8:3][1].name == "demo_5"
    assert dataset.lengths.tolist() == [len(demo) for demo in DEMOS]
    assert dataset[4:].lengths.tolist() == [len(demo) for demo in DEMOS[4:]]
    with pytest.raises(IndexError, match="demonstration 12 of 12"):
        dataset[12]


def test_subsets_keep_the_files_order(dataset: DemoDataset):
    assert dataset.subset("train").names == ("demo_11", "demo_2")
    with pytest.raises(SettingError, match="no such demonstration; found 'demo_99'"):
        dataset.subset("ghost")
    with pytest.raises(DataError, match="there are no demonstrations"):
        dataset.subset("none")


def test_the_grasp_is_found_for_every_format(dataset: DemoDataset):
    assert DEMOS[0].grasp is None
    assert dataset[0].grasp == Grasp(34, "subtask signal 'grasp'")
    annotated = dataclasses.replace(DEMOS[0], grasp=Grasp(20, "by hand"))
    assert memory_dataset([annotated])[0].grasp == Grasp(20, "by hand")


def test_the_object_is_where_the_hand_closed():
    blind = memory_dataset(synthetic_demos(2, with_object=False))
    assert blind.info.object_position_source == OBJECT_FROM_GRASP
    demo = blind[0]
    assert demo.grasp is not None
    np.testing.assert_array_equal(demo.object_position[0], demo.eef_position[demo.grasp.index])
    np.testing.assert_array_equal(demo.object_position[-1], demo.eef_position[-1])
    truth = synthetic_demos(1)[0]
    np.testing.assert_allclose(demo.object_position, truth.object_position, atol=1e-12)


def test_changes_apply_in_order_and_show_in_the_info(dataset: DemoDataset):
    renamed = dataset.map(to_absolute).map(lambda demo: dataclasses.replace(demo, task=demo.action_spec.kind))
    assert renamed[0].task == "absolute"
    assert renamed.info.action_spec.kind == "absolute"
    assert dataset.info.action_spec.kind == "relative"
    assert renamed[3:5][0].task == renamed.subset("train")[0].task == "absolute"


def test_progress_is_told_after_each(dataset: DemoDataset):
    told: list[tuple[int, int]] = []
    for number, _ in enumerate(dataset.each(lambda done, total: told.append((done, total)))):
        assert len(told) == number
    assert told == [(k, 12) for k in range(1, 13)]


def test_an_error_names_file_and_demonstration():
    def refuse(demo):
        raise DataError("cannot", field="actions")

    with pytest.raises(DataError, match=r"^memory > demo_4 > actions: cannot$"):
        memory_dataset(DEMOS).map(refuse)[4]


@pytest.mark.parametrize(
    ("name", "kind"),
    [("a.hdf5", "robomimic"), ("a.h5", "robomimic"), ("a", "lerobot"), ("a.zarr", "zarr"), ("a.zarr.zip", "zarr")],
)
def test_a_path_is_recognised_by_its_name_or_by_what_is_in_it(tmp_path: Path, name: str, kind: str):
    path = tmp_path / "with spaces and ünicode" / name
    with create_dataset(path, memory_dataset(DEMOS).info) as writer:
        writer.write(DEMOS[0])
    assert format_of(path) is FORMATS[kind]
    with open_dataset(path) as dataset:
        np.testing.assert_allclose(dataset[0].actions, DEMOS[0].actions, atol=1e-6)


@pytest.mark.parametrize("name", ["a.hdf5", "a", "a.zarr", "a.zarr.zip"])
def test_a_dataset_survives_the_way_to_a_worker(tmp_path: Path, name: str):
    """DataLoader workers get their dataset by pickle (spawn) or by fork."""
    made = synthetic_demos(2, image_size=8)
    with create_dataset(tmp_path / name, memory_dataset(made).info) as writer:
        for demo in made:
            writer.write(demo)
    with open_dataset(tmp_path / name) as dataset:
        dataset[0]
        copy = pickle.loads(pickle.dumps(dataset))
        np.testing.assert_array_equal(copy[1].images["agentview"][7], made[1].images["agentview"][7])


def test_the_summary_agrees_with_numpy():
    summary = summarise(memory_dataset(DEMOS), prediction_horizon=10)
    assert summary.steps == sum(map(len, DEMOS))
    assert summary.grasp_sources == {"subtask signal 'grasp'": 12}
    for name in ("actions", "eef_position", "gripper", "object_position", "eef_quat_wxyz"):
        stacked = np.concatenate([getattr(demo, name) for demo in DEMOS])
        statistics = summary.statistics[name]
        np.testing.assert_allclose(statistics.mean, stacked.mean(0), atol=1e-12)
        np.testing.assert_allclose(statistics.std, stacked.std(0), atol=1e-12)
        np.testing.assert_array_equal(statistics.minimum, stacked.min(0))
        np.testing.assert_array_equal(statistics.maximum, stacked.max(0))


def test_the_summary_names_every_problem():
    quick = dataclasses.replace(DEMOS[1], grasp=Grasp(5, "by hand"))
    idle = DEMOS[2]
    open_hand = idle.actions.copy()
    open_hand[:, -1] = -1
    idle = dataclasses.replace(idle, actions=open_hand, subtask_signals={})
    summary = summarise(memory_dataset([DEMOS[0], quick, idle]))
    assert [text.split(";")[0] for text in summary.problems] == [
        "memory > demo_1 > grasp_index: no chunk fits before the grasp",
        "memory > demo_2 > grasp_index: no grasp found",
    ]
    assert len(summary.demos) == 3


def test_mixed_specs_are_refused_by_a_writer(tmp_path: Path):
    absolute = synthetic_demos(1, spec=ACTION_SPECS["osc-absolute"])[0]
    with (
        pytest.raises(DataError, match="the action specs of the dataset and demo_0 differ"),
        create_dataset(tmp_path / "a.hdf5", memory_dataset(DEMOS).info) as writer,
    ):
        writer.write(absolute)
    assert list(tmp_path.iterdir()) == []
