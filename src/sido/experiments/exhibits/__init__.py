"""What is shown beside success.

| file | what it holds |
|---|---|
| `tracking.py` | `TrackingSlope`: does the commanded hand follow the object? |
| `forecasts.py` | `ForecastErrors`: success beside the predictors' errors |
| `sweep.py` | `SpeedSweep`: success over speed, drawn |
| `collection.py` | `CollectionCost`: what demonstrations cost, and how much of the workspace they cover |
| `views.py`, `wrist_views.py` | `WristViews`: t-SNE of what the wrist camera sees |
| `chunks.py` | `ChunkLevel`: displaced chunks, executed in the simulator |
"""

from sido.experiments.exhibits.chunks import ChunkLevel
from sido.experiments.exhibits.collection import CollectionCost
from sido.experiments.exhibits.forecasts import ForecastErrors
from sido.experiments.exhibits.sweep import SpeedSweep
from sido.experiments.exhibits.tracking import TrackingSlope
from sido.experiments.exhibits.views import WristViews

__all__ = ["ChunkLevel", "CollectionCost", "ForecastErrors", "SpeedSweep", "TrackingSlope", "WristViews"]
