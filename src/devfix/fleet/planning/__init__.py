"""Plan a fleet: which repositories, at which commits, and how."""

from devfix.fleet.planning.fleet_file import FleetFile, Repository, read_fleet_file
from devfix.fleet.planning.plan import Plan, make_plan

__all__ = ["FleetFile", "Plan", "Repository", "make_plan", "read_fleet_file"]
