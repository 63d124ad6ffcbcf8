"""Work in pieces: here, on the processes of a machine, or on a Ray cluster, with the same results."""

from sido.jobs.crew import Crew, Here, in_order
from sido.jobs.outcome import WorkFailedError
from sido.jobs.processes import Processes
from sido.jobs.ray_cluster import RayCluster

__all__ = ["Crew", "Here", "Processes", "RayCluster", "WorkFailedError", "in_order"]
