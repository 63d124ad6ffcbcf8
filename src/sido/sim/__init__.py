"""The moving world: robosuite's models, stepped natively. Needs the extra `sim`."""

from importlib.util import find_spec

from sido.errors import MissingExtraError

for _package in ("mujoco", "numba", "robosuite"):
    if find_spec(_package) is None:
        raise MissingExtraError("simulation", _package, "sim")
