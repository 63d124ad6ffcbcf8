"""Demonstrations from scripted experts: played, kept, and written as a dataset."""

from sido.sim.collect.collect import BATCH, Standing, collect
from sido.sim.collect.placements import PLACEMENTS
from sido.sim.collect.recipe import PRESETS, WRIST_CAMERA, Recipe, preset
from sido.sim.collect.report import Report

__all__ = ["BATCH", "PLACEMENTS", "PRESETS", "WRIST_CAMERA", "Recipe", "Report", "Standing", "collect", "preset"]
