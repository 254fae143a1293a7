"""Target -> runs: start the program in a world and read what the probe tells."""

from devfix.execution.probe_config import SEED
from devfix.execution.runner import TracedRunner, run_here

__all__ = ["SEED", "TracedRunner", "run_here"]
