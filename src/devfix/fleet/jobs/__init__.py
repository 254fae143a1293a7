"""Run one job of a fleet: clone, environment, and a command of devfix in a sandbox, within limits."""

from devfix.fleet.jobs.folders import NodeFolders
from devfix.fleet.jobs.run import run_job

__all__ = ["NodeFolders", "run_job"]
