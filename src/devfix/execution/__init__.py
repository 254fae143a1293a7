"""Run a target: start the program in a world and read the traces of the probe."""

from devfix.execution.probe_config import SEED
from devfix.execution.runner import TracedRunner, run_here

__all__ = ["SEED", "TracedRunner", "run_here"]
