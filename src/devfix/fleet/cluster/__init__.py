"""Run the jobs of a fleet on a Ray cluster."""

from devfix.fleet.cluster.connection import Cluster, connect
from devfix.fleet.cluster.submission import RunOptions, run_jobs

__all__ = ["Cluster", "RunOptions", "connect", "run_jobs"]
