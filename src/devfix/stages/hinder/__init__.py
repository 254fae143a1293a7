"""A run that failed for a reason of its own -> what the program misses here, in one line, and what can be done."""

from devfix.stages.hinder.hindering import hindrance
from devfix.stages.hinder.surroundings import Surroundings

__all__ = ["Surroundings", "hindrance"]
