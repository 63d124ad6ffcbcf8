"""robomimic's HDF5, which MimicGen and diffusion_policy use as well."""

from sido.demos.robomimic.reader import RobomimicSource
from sido.demos.robomimic.writer import RobomimicWriter

__all__ = ["RobomimicSource", "RobomimicWriter"]
