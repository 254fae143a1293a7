"""The order of the stages: one run of a program, and the loop that repairs it."""

from devfix.pipeline.options import RepairOptions
from devfix.pipeline.repair import repair
from devfix.pipeline.run import run

__all__ = ["RepairOptions", "repair", "run"]
