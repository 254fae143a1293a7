"""Failure and fix -> a test that was seen to fail before the fix, and to pass with it."""

from devfix.stages.guard.candidates import Candidate, candidates, program
from devfix.stages.guard.home import Home, find_home
from devfix.stages.guard.judging import Judge, Kept
from devfix.stages.guard.launch import LAUNCHER, launcher
from devfix.stages.guard.own import own_words

__all__ = [
    "LAUNCHER",
    "Candidate",
    "Home",
    "Judge",
    "Kept",
    "candidates",
    "find_home",
    "launcher",
    "own_words",
    "program",
]
