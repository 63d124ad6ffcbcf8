"""Counterfactuals: static demonstrations, as they would have been had the object moved.

| file | what it holds |
|---|---|
| `counterfactual.py` | `Counterfactual`, the augmentation: a `ChunkBatch` in, a `ChunkBatch` out |
| `displacement.py` | where the object goes: fixed or uniform length, any direction in the plane |
| `morph.py` | how a chunk of absolute or relative actions follows it |
| `gain.py` | how much of relative actions an arm realises, fitted to demonstrations |
| `invariant.py` | the offset from hand to object that all this preserves, measured |
| `saturation.py` | how many relative commands leave the controller's range |
| `picture.py` | the chunks before and after, drawn for a person (needs matplotlib) |
"""

from sido.augment.counterfactual import Counterfactual
from sido.augment.displacement import FixedLength, Length, UniformLength, planar_displacement
from sido.augment.gain import GainFit, RelativeGain, estimate_gain
from sido.augment.invariant import HandObjectOffset, commanded_path, hand_object_offset, invariant_residual
from sido.augment.morph import morph_absolute, morph_relative
from sido.augment.saturation import Saturation

__all__ = [
    "Counterfactual",
    "FixedLength",
    "GainFit",
    "HandObjectOffset",
    "Length",
    "RelativeGain",
    "Saturation",
    "UniformLength",
    "commanded_path",
    "estimate_gain",
    "hand_object_offset",
    "invariant_residual",
    "morph_absolute",
    "morph_relative",
    "planar_displacement",
]
