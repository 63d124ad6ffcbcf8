"""How an object moves: a course over the table, travelled at a pace. numpy only.

```python
motion = motion_named("circle", speed_mps=0.04)
trajectory = motion.trajectory(rng, start, Region(centre_m=(0.56, 0.0)), duration_s=60.0)
trajectory.position(0.05 * np.arange(1200))
```
"""

from sido.motion.circle import Circle
from sido.motion.course import Course
from sido.motion.drive import Drive
from sido.motion.driven import Driven
from sido.motion.lines import AlongAxis, RandomDirection, Sway, Waypoints
from sido.motion.motion import Motion
from sido.motion.motions import MOTIONS, motion_named
from sido.motion.obstacle import CUBE_CLEARANCE_M, NoRoomError, Obstacle, PassBeside, PlaceOutside, Reverse, Rule
from sido.motion.pace import Pace
from sido.motion.paces import Resampled, Steady, StopAndGo, Surging
from sido.motion.region import GANTRY_SIZE_M, TABLETOP_SIZE_M, Region
from sido.motion.still import Still
from sido.motion.trajectory import TABLE_COLUMNS, Trajectory

__all__ = [
    "CUBE_CLEARANCE_M",
    "GANTRY_SIZE_M",
    "MOTIONS",
    "TABLETOP_SIZE_M",
    "TABLE_COLUMNS",
    "AlongAxis",
    "Circle",
    "Course",
    "Drive",
    "Driven",
    "Motion",
    "NoRoomError",
    "Obstacle",
    "Pace",
    "PassBeside",
    "PlaceOutside",
    "RandomDirection",
    "Region",
    "Resampled",
    "Reverse",
    "Rule",
    "Steady",
    "Still",
    "StopAndGo",
    "Surging",
    "Sway",
    "Trajectory",
    "Waypoints",
    "motion_named",
]
