"""Target -> runs: start the program in a world and read what the probe tells."""

from devfix.execution.probe_config import SEED
from devfix.execution.runner import Observer, run_here

__all__ = ["SEED", "Observer", "run_here"]
