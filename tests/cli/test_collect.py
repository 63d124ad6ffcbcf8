"""`sido collect`, as a person meets it: a report, one line for what cannot be, and no harm in stopping."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from sido.cli.main import main
from sido.demos import open_dataset
from sido.sim.collect.journal import Journal
from sido.sim.collect.recipe import PRESETS, preset


def test_the_papers_numbers():
    assert [preset(task) for task in PRESETS] == [
        ("random", 200),
        ("random", 1000),
        ("random", 1000),
        ("grid", 64),
        ("random", 25),
    ]
    assert preset("gantry", "x") == ("x", 30)
    assert preset("gantry", "y") == ("y", 22)
    assert preset("square", "grid") == ("grid", None)


def test_stopped_it_goes_on_and_says_what_it_cost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    out, save = tmp_path / "demos.hdf5", Journal.save
    command = ["collect", "stack", "-n", "2", "--motion", "y", "--seed", "5", "-o", str(out), "--json"]

    def stop(journal: Journal, *arguments: Any) -> None:
        save(journal, *arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "save", stop)
        assert main(command) == 130
    said = capsys.readouterr().err
    assert "stopped: 0 of 2 demonstrations" in said
    assert "the same command goes on from there" in said
    assert not out.exists()
    assert main(command) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["demos"], report["attempts"], report["endings"]) == (2, 2, {"success": 2})
    assert report["recipe"]["speed_mps"] == 0.02
    assert report["elapsed_s"] > 0
    assert 6 < report["robot_time_s"] < 20
    with open_dataset(out) as dataset:
        assert [demo.metadata["seed"] for demo in dataset] == ["5", "6"]
    assert main(["inspect", str(out)]) == 0
    assert "contact log (2)" in " ".join(capsys.readouterr().out.split())
    assert main(command) == 2, "what is there is kept"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("stak -o {}/a.hdf5", "unknown task; found 'stak'; .* did you mean 'stack'"),
        ("stack -o {}/a.hdf5 --motion circel", "unknown motion; found 'circel'; .* did you mean 'circle'"),
        ("stack -o {}/a.hdf5 --motion x --speed -1", "speed_mps: not a usable number; found -1"),
        ("stack -o {}/a.hdf5 --motion x --speed 9", "too fast for the region; found 9 m/s; expected 0.625 m/s at most"),
        ("stack -o {}/a.hdf5 --speed 0.04", "a still object has no speed; found motion 'still' at 0.04 m/s"),
        ("stack -o {}/a.hdf5 --obstacle pas", "unknown rule for the obstacle; .* did you mean 'pass-beside'"),
        ("stack -o {}/a.hdf5 -n 0", "demos: too few; found 0; expected 1 or more"),
        ("square -o {}/a.hdf5 --placements x", "the paper has no square demonstrations with --placements x"),
        ("gantry -o {}/a.hdf5 -n 5", "a grid has as many rows as columns; found 5"),
        ("stack -o {}/a.hdf5 --workers 0", "workers: too few; found 0"),
        ("stack -o {}/a.hdf5 --workers 2 --ray auto", "a cluster has workers of its own"),
        ("stack -o {}/a.hdf5 --grasp-offset inf", "ExpertSettings.grasp_offset_m: not usable; found inf"),
        ("stack -o {}/a.xyz", "no format to write this in; found '.xyz'"),
        ("stack -o {}/file/a.hdf5 -n 1", r"file/a.hdf5: cannot be written; found .*Not a directory"),
    ],
)
def test_what_cannot_be_is_one_line_and_nothing_is_played(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: str, complaint: str
):
    (tmp_path / "file").write_text("mine")
    assert main(["collect", *arguments.format(tmp_path).split()]) == 2
    said = capsys.readouterr().err.strip()
    assert re.search(complaint, said), said
    assert said.count("\n") == 0
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
