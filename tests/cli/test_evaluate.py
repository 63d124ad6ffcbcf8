"""`sido evaluate`, where it refuses and remarks; what it does is in tests/evaluate. And `sido --version`."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from sido.cli.evaluate import remark_on_environment
from sido.cli.main import main
from sido.demos import create_dataset, open_dataset
from sido.demos.source import Environment
from sido.train import DataConfig, fit_to_data, preset


@pytest.mark.parametrize("motions", [(), ("still",)])
def test_a_speed_of_nothing_is_refused_before_a_policy_is_read(motions: tuple[str, ...], capsys: pytest.CaptureFixture):
    named = ["--motion", *motions] if motions else []
    assert main(["evaluate", "no-such-run", *named, "--speed", "0.02", "0.04"]) == 2
    assert "a still object has no speed; found motion 'still' at 0.04 m/s" in capsys.readouterr().err


def test_beside_a_motion_a_still_object_is_played_too(capsys: pytest.CaptureFixture):
    assert main(["evaluate", "no-such-run", "--motion", "still", "x", "--speed", "0.04"]) == 2
    assert "no policy here" in capsys.readouterr().err


def test_the_version_is_told(capsys: pytest.CaptureFixture):
    assert main(["--version"]) == 0
    assert re.fullmatch(r"sido \d+\.\d+\.\d+( \([0-9a-f]{12}\+?\))?(, \w+ [\w.+]+)+\n", capsys.readouterr().out)


def test_a_policy_of_another_environment_is_remarked_on(tmp_path: Path, capsys: pytest.CaptureFixture):
    """Whose demonstrations are gone, or are of something else; one that learnt in this environment is not."""
    data = tmp_path / "demos.hdf5"
    assert main(["synthesize", str(data), "--demos", "3"]) == 0
    config = preset("dp", DataConfig(path=str(data)), fit_to_data(DataConfig(path=str(data)), ()))
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "config.json").write_text(config.to_json())
    capsys.readouterr()
    remark_on_environment(tmp_path / "run", "stack")
    assert "run learnt from demonstrations of" in " ".join(capsys.readouterr().err.split())
    with open_dataset(data) as dataset:
        demos = list(dataset)
        info = dataclasses.replace(dataset.info, environment=Environment("Stack_D0", "1.5.2"))
    with create_dataset(data, info, overwrite=True) as writer:
        for demo in demos:
            writer.write(demo)
    remark_on_environment(tmp_path / "run", "stack")
    assert capsys.readouterr().err == ""
    data.unlink()
    remark_on_environment(tmp_path / "run", "stack")
    assert "of an environment that is not known" in " ".join(capsys.readouterr().err.split())
