"""Counterfactuals: static demonstrations, as they would have been had the object moved.

| file | what it holds |
|---|---|
| `counterfactual.py` | `Counterfactual`, the augmentation: a `ChunkBatch` in, a `ChunkBatch` out |
| `displacement.py` | where the object goes: fixed or uniform length, any direction in the plane |
| `off_centre.py` | `OffCentre`, beyond the paper: the object held off its middle, and put down where it belongs |
| `morph.py` | how a chunk of absolute or relative actions follows it |
| `gain.py` | how much of relative actions an arm realises, fitted to demonstrations |
| `invariant.py` | the offset from hand to object that all this preserves, measured |
| `saturation.py` | how many relative commands leave the controller's range |
| `dynamics/` | DynaSIDO: the robot's own dynamics, learnt from the demonstrations |
| `refine/` | and chunks refined under them: MPPI, Gauss-Newton |
| `generate.py`, `cache.py`, `dataset_chunks.py` | chunks for a whole dataset, made once, in a folder |
| `cached_counterfactual.py` | `CachedCounterfactual`: the augmentation that draws from it |
| `picture.py` | the chunks before and after, drawn for a person (needs matplotlib) |
"""

from sido.augment.cache import ChunkCache, generate_cache, plan_cache
from sido.augment.cached_counterfactual import CachedCounterfactual, CachedDraws
from sido.augment.counterfactual import Counterfactual
from sido.augment.displacement import FixedLength, Length, UniformLength, planar_displacement
from sido.augment.dynamics import (
    DynamicsErrors,
    DynamicsModel,
    FitSettings,
    RobotMotion,
    dynamics_errors,
    fit_dynamics,
)
from sido.augment.gain import GainFit, RelativeGain, estimate_gain
from sido.augment.generate import REFINERS, AnyRefiner, GenerationSettings
from sido.augment.invariant import HandObjectOffset, commanded_path, hand_object_offset, invariant_residual
from sido.augment.morph import morph_absolute, morph_relative
from sido.augment.off_centre import OffCentre
from sido.augment.refine import GaussNewton, Heuristic, Mppi, Refiner
from sido.augment.saturation import Saturation

__all__ = [
    "REFINERS",
    "AnyRefiner",
    "CachedCounterfactual",
    "CachedDraws",
    "ChunkCache",
    "Counterfactual",
    "DynamicsErrors",
    "DynamicsModel",
    "FitSettings",
    "FixedLength",
    "GainFit",
    "GaussNewton",
    "GenerationSettings",
    "HandObjectOffset",
    "Heuristic",
    "Length",
    "Mppi",
    "OffCentre",
    "Refiner",
    "RelativeGain",
    "RobotMotion",
    "Saturation",
    "UniformLength",
    "commanded_path",
    "dynamics_errors",
    "estimate_gain",
    "fit_dynamics",
    "generate_cache",
    "hand_object_offset",
    "invariant_residual",
    "morph_absolute",
    "morph_relative",
    "plan_cache",
    "planar_displacement",
]
