"""A run that failed for a reason of its own -> what the program misses here, in one line, and what can be done."""

from devfix.obstacles.detect import hindrance
from devfix.obstacles.surroundings import Surroundings

__all__ = ["Surroundings", "hindrance"]
