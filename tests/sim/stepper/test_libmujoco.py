"""Where mujoco keeps things, and how its machine code is kept."""

from __future__ import annotations

import subprocess
import sys

import mujoco
import numpy as np
import pytest

from sido.errors import SidoError
from sido.sim.scene import Scene
from sido.sim.stepper import libmujoco, native

from .conftest import home_of


def test_offsets_lead_to_what_python_sees(scene: Scene):
    data = mujoco.MjData(scene.model)
    data.qpos[:] = home_of(scene)
    mujoco.mj_forward(scene.model, data)
    assert data.ncon > 0
    libmujoco.verify(data)
    offsets = libmujoco.offsets()
    assert offsets.contact_size == data.contact.dist.strides[0]
    assert offsets.contact_geom == data.contact.geom.ctypes.data - data.contact.dist.ctypes.data


@pytest.mark.parametrize("field", ["ncon", "qpos", "qvel", "ctrl", "qM", "qfrc_bias", "site_xpos", "contact"])
def test_a_wrong_offset_is_found(scene: Scene, field: str, monkeypatch: pytest.MonkeyPatch):
    data = mujoco.MjData(scene.model)
    data.qpos[:] = home_of(scene)
    mujoco.mj_forward(scene.model, data)
    right = libmujoco.offsets()
    wrong = right._replace(**{field: getattr(right, field) + 8})
    monkeypatch.setattr(libmujoco, "offsets", lambda: wrong)
    with pytest.raises(SidoError, match=f"{field}: mujoco's mjData is not laid out as its package describes; found"):
        libmujoco.verify(data)


def test_views_of_memory():
    numbers = np.arange(5.0)
    view = native.floats(numbers.ctypes.data, 5)
    np.testing.assert_array_equal(view, numbers)
    words = np.array([numbers.ctypes.data], dtype=np.intp)
    assert native.member(words.ctypes.data, 0) == numbers.ctypes.data
    counts = np.arange(3, dtype=np.int32)
    np.testing.assert_array_equal(native.ints(counts.ctypes.data, 3), counts)


def test_machine_code_is_found_again_by_the_next_process():
    code = """
from sido.sim.stepper.period import control_period, read_state
from numba.core.caching import NullCache
for entry in (control_period, read_state):
    assert not isinstance(entry._cache, NullCache)
    print(entry._cache._impl.locator.get_cache_path())
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert len(set(run.stdout.split())) == 1


@pytest.mark.parametrize(("name", "matters"), [("algebra.py", True), ("tables.py", True), ("stepper.py", False)])
def test_the_digest_is_of_every_compiled_source(monkeypatch: pytest.MonkeyPatch, name: str, matters: bool):
    before = native.sources_digest()
    assert before == native.sources_digest()
    read = native.Path.read_bytes
    monkeypatch.setattr(native.Path, "read_bytes", lambda file: read(file) + (b" " if file.name == name else b""))
    assert (native.sources_digest() != before) == matters
