"""Static In, Dynamic Out: train on static demonstrations, grasp moving objects.

```python
import sido

dataset = sido.open_dataset("stack.hdf5")
sampler = sido.ChunkSampler(dataset.map(sido.to_absolute))
augment = sido.Counterfactual(step_speed_m=0.001, prediction_horizon=16, action_horizon=8, static_ratio=0.2)
```

Importing `sido` loads neither torch nor a simulator: every name below is fetched from its room when first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sido.augment import Counterfactual, estimate_gain, morph_absolute, morph_relative
    from sido.demos import (
        ActionSpec,
        ChunkBatch,
        ChunkSampler,
        ChunkWindow,
        Demo,
        DemoDataset,
        FrameStore,
        Hints,
        create_dataset,
        open_dataset,
        summarise,
        to_absolute,
        to_relative,
        with_rotation,
    )
    from sido.errors import DataError, MissingExtraError, SettingError, SidoError

__version__ = "0.1.0"

__all__ = [
    "ActionSpec",
    "ChunkBatch",
    "ChunkSampler",
    "ChunkWindow",
    "Counterfactual",
    "DataError",
    "Demo",
    "DemoDataset",
    "FrameStore",
    "Hints",
    "MissingExtraError",
    "SettingError",
    "SidoError",
    "create_dataset",
    "estimate_gain",
    "morph_absolute",
    "morph_relative",
    "open_dataset",
    "summarise",
    "to_absolute",
    "to_relative",
    "with_rotation",
]

_HOMES = {
    "sido.augment": ("Counterfactual", "estimate_gain", "morph_absolute", "morph_relative"),
    "sido.errors": ("DataError", "MissingExtraError", "SettingError", "SidoError"),
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'sido' has no attribute {name!r}")
    home = next((home for home, names in _HOMES.items() if name in names), "sido.demos")
    return getattr(importlib.import_module(home), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
