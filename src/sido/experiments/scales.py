"""How much of everything: from a test that all runs, to the paper's sizes."""

from __future__ import annotations

from sido.experiments.experiment import Scale

__all__ = ["SCALES"]

_PAPER = {"stack": 200, "square": 1000, "mug": 1000, "gantry": 64, "peachtree": 25}
_LAPTOP = {**_PAPER, "square": 200, "mug": 200}
_SMOKE = dict.fromkeys(_PAPER, 4)

SCALES: dict[str, Scale] = {
    "smoke": Scale(
        "smoke",
        _SMOKE,
        1,
        2,
        "cpu",
        training_steps=10,
        image_px=32,
        teaching_steps=20,
        longest_s=2.0,
        chunks=6,
        films=1,
    ),
    "demo": Scale("demo", _LAPTOP, 1, 30, "cpu"),
    "cpu": Scale("cpu", _LAPTOP, 3, 100, "cpu"),
    "paper": Scale("paper", _PAPER, 3, 100, "paper", image_px=84),
}
