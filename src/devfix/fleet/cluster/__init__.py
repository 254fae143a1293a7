"""Run the jobs of a fleet on a Ray cluster."""

from devfix.fleet.cluster.connect import connect
from devfix.fleet.cluster.options import RunOptions

__all__ = ["RunOptions", "connect"]
