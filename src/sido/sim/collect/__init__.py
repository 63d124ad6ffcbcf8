"""Demonstrations from scripted experts: played, kept, and written as a dataset."""

from sido.sim.collect.collect import BATCH, Standing, collect
from sido.sim.collect.placements import PLACEMENTS
from sido.sim.collect.recipe import CAMERAS, PRESETS, Recipe, preset
from sido.sim.collect.report import Report

__all__ = ["BATCH", "CAMERAS", "PLACEMENTS", "PRESETS", "Recipe", "Report", "Standing", "collect", "preset"]
