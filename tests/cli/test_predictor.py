"""`sido predictor`: taught, kept, measured; from simulation and from a log."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from sido.cli.main import main


def write_log(path: Path) -> None:
    times = np.arange(400) / 20.0
    rows = np.stack([times, 0.02 * np.abs(times - 10.0), 0.0 * times, 0.1 + 0.0 * times], axis=-1)
    np.savetxt(path, rows, delimiter=",", header="time_s,x_m,y_m,z_m", comments="")


def test_fit_and_evaluate(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    fit = ["predictor", "fit", "fernn", "-o", str(tmp_path / "fernn"), "--steps", "3", "--minutes", "0.5"]
    assert main(fit) == 0
    assert "fernn, taught on 0.5 minutes of 1 tracks" in capsys.readouterr().out
    about = json.loads((tmp_path / "fernn" / "predictor.json").read_text())["about"]
    assert about["settings"]["steps"] == 3
    assert about["tracks"]["motion"] == ["gantry"]
    assert main(fit) == 2
    assert "already exists" in capsys.readouterr().err
    names = ["hold", "deadband:kalman", str(tmp_path / "fernn")]
    picture = tmp_path / "forecasts.png"
    options = ["-n", "3", "--motion", "x", "circle", "--speed", "0.02", "--noise", "0", "0.003", "--plot", str(picture)]
    assert main(["predictor", "evaluate", *names, *options]) == 0
    said = capsys.readouterr().out
    assert said.count("deadband:kalman") == 5
    assert "since the object's last turn" in said
    assert picture.stat().st_size > 10_000
    assert main(["predictor", "evaluate", *names, *options[:-2], "--walls", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["predictor"] for row in rows] == names * 4
    still = [row for row in rows if row["predictor"] == "hold" and row["noise_m"] == 0.0 and row["motion"] == "circle"]
    assert still[0]["fde_m"] == pytest.approx(2 * 0.05 * np.sin(0.016 / 0.1), rel=1e-3)  # the chord of 1.6 cm of arc


def test_a_log_of_real_poses(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    write_log(tmp_path / "poses.csv")
    log = ["--log", str(tmp_path / "poses.csv")]
    assert main(["predictor", "fit", "mlp", "-o", str(tmp_path / "mlp"), "--steps", "3", *log]) == 0
    assert "taught on 0.3 minutes of 1 tracks" in capsys.readouterr().out
    assert main(["predictor", "evaluate", "kalman", str(tmp_path / "mlp"), "--noise", "0", "--json", *log]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["motion"] for row in rows] == ["recorded"] * 2


def test_errors_are_one_line(capsys: pytest.CaptureFixture[str]):
    assert main(["predictor", "evaluate", "kallman"]) == 2
    captured = capsys.readouterr().err
    assert captured.startswith("error: unknown predictor; found 'kallman'")
    assert captured.count("\n") == 1
