"""EGL or OSMesa, whichever works; a clear word where neither does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import sido
from sido.errors import SidoError
from sido.sim.cameras import gl_context
from sido.sim.cameras.gl_context import thread_context
from sido.sim.cameras.gl_library import NoContextError, load_library


class Works:
    def __init__(self, name: str) -> None:
        self.name = name

    def make_current(self) -> None: ...


def missing(name: str):
    def make() -> Works:
        raise NoContextError(f"the system has no lib{name}")

    return make


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A process in which nothing was drawn yet."""
    monkeypatch.setattr(gl_context, "_here", gl_context._Contexts())
    monkeypatch.setattr(gl_context, "_choice", [])
    monkeypatch.setattr(gl_context, "_opened_in", [])
    monkeypatch.delenv("MUJOCO_GL", raising=False)
    return monkeypatch


def offer(patch: pytest.MonkeyPatch, *working: str) -> None:
    backends = {
        name: (lambda name=name: Works(name)) if name in working else missing(name) for name in ("egl", "osmesa")
    }
    patch.setattr(gl_context, "BACKENDS", backends)


@pytest.mark.parametrize(
    ("working", "wish", "expected"),
    [
        (("egl", "osmesa"), None, "egl"),
        (("egl", "osmesa"), "osmesa", "osmesa"),
        (("egl", "osmesa"), "OSMesa ", "osmesa"),
        (("egl", "osmesa"), "glfw", "egl"),
        (("osmesa",), None, "osmesa"),
        (("egl",), "osmesa", "egl"),
    ],
)
def test_what_works_is_found(fresh: pytest.MonkeyPatch, working, wish: str | None, expected: str):
    offer(fresh, *working)
    if wish is not None:
        fresh.setenv("MUJOCO_GL", wish)
    first = thread_context()
    assert first.name == expected
    offer(fresh, "egl", "osmesa")
    assert thread_context() is first, "and kept"


def test_a_fork_of_a_process_that_has_drawn_is_told(fresh: pytest.MonkeyPatch):
    """It would wait forever for threads of Mesa's that only its parent has."""
    offer(fresh, "egl")
    thread_context()
    fresh.setattr(os, "getpid", lambda: 1)
    with pytest.raises(SidoError, match="a forked process cannot draw where its parent has drawn before; to mend it"):
        thread_context()


def test_neither_is_said_with_reasons_and_what_to_install(fresh: pytest.MonkeyPatch):
    offer(fresh)
    with pytest.raises(SidoError) as caught:
        thread_context()
    assert str(caught.value) == (
        "images cannot be rendered on this machine: it has neither EGL nor OSMesa; "
        "found egl: the system has no libegl | osmesa: the system has no libosmesa; "
        "to mend it: sudo apt-get install libegl1 libosmesa6 libgl1"
    )


def test_a_library_that_is_missing():
    with pytest.raises(NoContextError, match=r"the system has no libnowhere\.so\.1"):
        load_library(("libnowhere.so.1", "libnowhere.so"))


RENDER = """
import numpy as np
from sim.small_scene import small_scene, state_of
from sido.sim.cameras import Cameras
scene = small_scene()
with Cameras(scene, ["front"], size=(40, 40)) as cameras:
    image = cameras.render(state_of(scene))["front"]
    print(cameras.backend, *np.round(image.reshape(-1, 3).mean(axis=0)).astype(int))
"""


def test_both_draw_the_same():
    """In processes of their own: MuJoCo keeps to the first OpenGL that it meets."""
    said = []
    for backend in ("egl", "osmesa"):
        path = os.pathsep.join([str(Path(__file__).parents[2]), str(Path(sido.__file__).parents[1])])
        environment = os.environ | {"MUJOCO_GL": backend, "PYTHONPATH": path}
        run = subprocess.run(
            [sys.executable, "-c", RENDER], capture_output=True, text=True, env=environment, check=True
        )
        name, *colour = run.stdout.split()
        assert run.stderr == ""
        said.append((name, [int(value) for value in colour]))
    assert said[0][0] in ("egl", "osmesa"), "where a machine lacks one, the other serves"
    assert all(abs(one - other) <= 2 for one, other in zip(said[0][1], said[1][1], strict=True))
