"""Target -> runs: start the program in a world and read what the probe tells."""

from devfix.stages.observe.observer import Observer, run_here
from devfix.stages.observe.orders import SEED

__all__ = ["SEED", "Observer", "run_here"]
