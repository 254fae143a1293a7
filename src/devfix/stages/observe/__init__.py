"""Target -> runs: start the program in a world and read what the probe tells."""

from devfix.stages.observe.observer import Observer, run_here

__all__ = ["Observer", "run_here"]
