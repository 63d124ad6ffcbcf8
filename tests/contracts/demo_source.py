"""What every dataset format must satisfy, as one function; `test_demo_source.py` runs it on each."""

from __future__ import annotations

import gc
from pathlib import Path

import numpy as np

from sido.demos import Demo, DemoSource, Hints
from sido.demos.formats import format_of


def check_demo_source(source: DemoSource, originals: list[Demo], *, lossy_images: bool = False) -> None:
    """A source of a dataset that holds `originals` lists, measures and reads them as they were written."""
    assert isinstance(source, DemoSource)
    assert source.names == tuple(demo.name for demo in originals), "names come in numeric order"
    assert [source.length(index) for index in range(len(originals))] == [len(demo) for demo in originals]
    assert set(source.info.cameras) == set(originals[0].images)
    for index in reversed(range(len(originals))):  # in any order
        check_demo(source.read(index), originals[index], lossy_images=lossy_images)
    first, again = source.read(0), source.read(0)
    assert np.array_equal(first.actions, again.actions), "reading has no side effects"


def check_demo(found: Demo, original: Demo, *, lossy_images: bool = False) -> None:
    """What every format can hold is as it was: numbers to float32, everything else exactly."""
    assert found.name == original.name
    assert found.action_spec == original.action_spec
    assert found.task == original.task
    assert found.grasp == original.grasp
    assert dict(found.metadata) == dict(original.metadata)
    for name in ("actions", "eef_position", "gripper", "object_position"):
        assert_close(getattr(found, name), getattr(original, name), name)
    dots = np.abs((found.eef_quat_wxyz * original.eef_quat_wxyz).sum(1))
    assert (dots > 1 - 1e-6).all(), "the orientation of the hand"
    assert {key: value.tolist() for key, value in found.subtask_signals.items()} == {
        key: value.tolist() for key, value in original.subtask_signals.items()
    }
    for key, array in original.recorded.items():
        assert key in found.recorded, f"{key} is lost"
        assert found.recorded[key].shape == array.shape, key
        np.testing.assert_array_equal(found.recorded[key], array, err_msg=key)
    for camera, frames in original.images.items():
        assert found.images[camera].shape == frames.shape
        steps = np.array([len(original) - 1, 0, 5, 5])
        difference = np.abs(found.images[camera][steps].astype(int) - frames[steps].astype(int))
        assert difference.mean() < 8 if lossy_images else difference.max() == 0, camera


def assert_close(found: np.ndarray | None, original: np.ndarray | None, name: str) -> None:
    if original is None:
        assert found is None, name
        return
    assert found is not None, name
    assert found.dtype == np.float64
    assert not found.flags.writeable
    np.testing.assert_allclose(found, original, rtol=0, atol=2e-7, err_msg=name)


def check_laziness(path: Path, hints: Hints) -> None:
    """Opening and taking a demonstration reads no image: frames come when they are indexed."""
    source = format_of(path).opens(path, hints)
    demo = source.read(0)
    gc.collect()
    for frames in demo.images.values():
        assert frames[0].shape == frames.shape[1:]
        assert frames[np.array([], dtype=np.int64)].shape == (0, *frames.shape[1:])
    source.close()
