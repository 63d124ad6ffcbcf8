"""What a demonstration is, and the formats that hold one.

| file | noun |
|---|---|
| `demo.py` | `Demo`: one episode; `Grasp`: when the object is grasped |
| `action_spec.py` | `ActionSpec`: what the numbers of an action mean |
| `source.py` | the contract of a format: `DemoSource`, `DemoWriter`, `DatasetInfo`, `Hints` |
| `formats.py` | the table of formats: `open_dataset`, `create_dataset` |
| `dataset.py` | `DemoDataset`: demonstrations by number, name or in order |
| `grasp.py` | `find_grasp`: the grasp index and its source |
| `absolute.py` | relative actions to absolute ones, and back |
| `summary.py` | `summarise`: what is in a dataset and what is wrong with it |
| `chunks.py`, `sampler.py`, `frame_store.py` | training batches |
| `robomimic/`, `lerobot/`, `replay_buffer/`, `droid/` | the formats |
| `json_document.py`, `hdf5_file.py`, `forgiving_file.py`, `video.py` | doors to files that may be damaged |
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from sido.demos.absolute import to_absolute, to_relative, with_rotation
from sido.demos.action_spec import ACTION_SPECS, ActionSpec, action_spec
from sido.demos.dataset import DemoDataset
from sido.demos.demo import Demo, Grasp
from sido.demos.formats import FORMATS, create_dataset, open_dataset
from sido.demos.frame_store import FrameStore
from sido.demos.frames import Frames
from sido.demos.grasp import find_grasp
from sido.demos.source import DatasetInfo, DemoSource, DemoWriter, Environment, Hints
from sido.demos.summary import DatasetSummary, summarise

if TYPE_CHECKING:
    from sido.demos.chunks import ChunkBatch
    from sido.demos.sampler import ChunkSampler, ChunkWindow

__all__ = [
    "ACTION_SPECS",
    "FORMATS",
    "ActionSpec",
    "ChunkBatch",
    "ChunkSampler",
    "ChunkWindow",
    "DatasetInfo",
    "DatasetSummary",
    "Demo",
    "DemoDataset",
    "DemoSource",
    "DemoWriter",
    "Environment",
    "FrameStore",
    "Frames",
    "Grasp",
    "Hints",
    "action_spec",
    "create_dataset",
    "find_grasp",
    "open_dataset",
    "summarise",
    "to_absolute",
    "to_relative",
    "with_rotation",
]

# Batches are made of torch tensors; reading and converting demonstrations should not wait for torch to load.
_NEED_TORCH = {
    "ChunkBatch": "sido.demos.chunks",
    "ChunkSampler": "sido.demos.sampler",
    "ChunkWindow": "sido.demos.sampler",
}


def __getattr__(name: str) -> Any:
    if name in _NEED_TORCH:
        return getattr(importlib.import_module(_NEED_TORCH[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
