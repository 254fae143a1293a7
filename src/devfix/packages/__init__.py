"""Installed distributions of the program's interpreter: whose file is it, which releases exist, how is one pinned."""

from devfix.packages.distributions import Distribution, distribution_of
from devfix.packages.overlay import laid_over
from devfix.packages.pins import Pin, pinned
from devfix.packages.releases import install, releases

__all__ = ["Distribution", "Pin", "distribution_of", "install", "laid_over", "pinned", "releases"]
