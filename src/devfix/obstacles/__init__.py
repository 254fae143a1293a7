"""Detect what an unrelated failure shows to be missing on this machine, and suggest what to do."""

from devfix.obstacles.detect import hindrance
from devfix.obstacles.surroundings import Surroundings

__all__ = ["Surroundings", "hindrance"]
