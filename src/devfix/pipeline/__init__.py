"""The order of the stages: one run of a program, and the loop that repairs it."""

from devfix.pipeline.repairing import repair
from devfix.pipeline.running import run

__all__ = ["repair", "run"]
