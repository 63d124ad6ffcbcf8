"""diffusion_policy's replay buffer: a zarr (version 2) folder or zip that holds all episodes end to end.

```
data/<key>            [steps, ...]   every array has one row for each step of all episodes
meta/episode_ends     [episodes]     int64, where each episode stops: exclusive, cumulative
meta/sido             [bytes]        what sido adds, which diffusion_policy passes by (see `annotations.py`)
meta/sido_ends        [documents]
```
"""

from sido.demos.replay_buffer.source import ReplayBufferSource
from sido.demos.replay_buffer.writer import ReplayBufferWriter

__all__ = ["ReplayBufferSource", "ReplayBufferWriter"]
