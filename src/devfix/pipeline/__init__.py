"""Pipelines over the packages below: a repair, and a single run of a program."""

from devfix.pipeline.opening.options import RepairOptions
from devfix.pipeline.repair import repair
from devfix.pipeline.run import run

__all__ = ["RepairOptions", "repair", "run"]
