"""Images without a screen: cameras of a scene, and how good their pictures are to be."""

from sido.sim.cameras.cameras import Cameras
from sido.sim.cameras.canvas import VISUAL_GROUPS
from sido.sim.cameras.lens import Lens
from sido.sim.cameras.quality import FAST, PRETTY, Quality

__all__ = ["FAST", "PRETTY", "VISUAL_GROUPS", "Cameras", "Lens", "Quality"]
