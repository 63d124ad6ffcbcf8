"""The rooms, their order, the public list, and what importing costs."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import sido

SOURCE = Path(sido.__file__).parent

ROOMS = (
    "errors", "arrays", "atomic", "jobs", "proportion", "release", "geometry", "demos", "motion", "augment", "predict",
    "policies", "train", "control", "sim", "evaluate", "experiments", "cli",
)  # fmt: skip
"""Imports go one way: a room may import those before it."""

PUBLIC = [
    "ActionSpec", "ChunkBatch", "ChunkSampler", "ChunkWindow", "Counterfactual", "DataError", "Demo", "DemoDataset",
    "FrameStore", "Hints", "MissingExtraError", "SettingError", "SidoError", "create_dataset", "estimate_gain",
    "morph_absolute", "morph_relative", "open_dataset", "summarise", "to_absolute", "to_relative", "with_rotation",
]  # fmt: skip


def room_of(file: Path) -> str:
    return file.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_rooms(file: Path) -> set[str]:
    rooms: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("sido."):
            rooms.add(node.module.split(".")[1])
        elif isinstance(node, ast.Import):
            rooms |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("sido.")}
    return rooms


def violations(file: Path, room: str) -> list[str]:
    return [other for other in imported_rooms(file) if ROOMS.index(other) > ROOMS.index(room)]


@pytest.mark.parametrize("file", sorted(SOURCE.rglob("*.py")), ids=lambda file: str(file.relative_to(SOURCE)))
def test_imports_go_one_way(file: Path):
    if file.parent == SOURCE and file.name == "__init__.py":
        return  # the table of contents may name every room
    assert violations(file, room_of(file)) == []


def test_the_order_is_enforced(tmp_path: Path):
    wrong = tmp_path / "wrong.py"
    wrong.write_text("from sido.augment import Counterfactual\nimport sido.cli.main\n")
    assert sorted(violations(wrong, "demos")) == ["augment", "cli"]


def test_public_names_are_these_and_exist():
    assert sorted(sido.__all__) == sorted(PUBLIC)
    for name in PUBLIC:
        assert getattr(sido, name).__name__ == name


@pytest.mark.parametrize("room", ["jobs", "geometry", "demos", "motion", "augment", "predict", "evaluate"])
def test_every_name_in_all_exists(room: str):
    module = importlib.import_module(f"sido.{room}")
    assert [name for name in module.__all__ if not hasattr(module, name)] == []


@pytest.mark.parametrize(
    ("statement", "unwanted"),
    [
        ("import sido", {"torch", "mujoco", "robosuite", "numpy", "h5py"}),
        (
            "import sido.demos, sido.geometry",
            {"torch", "mujoco", "robosuite", "pyarrow", "zarr", "av", "matplotlib", "h5py"},
        ),
        ("import sido.jobs", {"torch", "mujoco", "ray", "numpy"}),
        ("import sido.predict", {"torch", "mujoco", "robosuite", "h5py", "matplotlib", "pyarrow"}),
        ("import sido.augment", {"mujoco", "robosuite", "matplotlib"}),
        # What takes its time is imported within `main`, which listens to Ctrl-C.
        (
            "import sido.cli.main",
            {"tyro", "rich", "torch", "mujoco", "robosuite", "matplotlib", "pyarrow", "zarr"},
        ),
    ],
)
def test_importing_is_cheap(statement: str, unwanted: set[str]):
    code = f"{statement}\nimport sys; print(' '.join(m for m in {sorted(unwanted)} if m in sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.split() == []
