"""Distributions: whose file is it, which releases exist, how is one pinned, which ones does a repository declare."""

from devfix.packages.declared import Declared, declared, distribution_for, usual_name
from devfix.packages.distributions import Distribution, distribution_of
from devfix.packages.overlay import laid_over
from devfix.packages.pins import Pin, pinned
from devfix.packages.releases import install, releases

__all__ = [
    "Declared",
    "Distribution",
    "Pin",
    "declared",
    "distribution_for",
    "distribution_of",
    "install",
    "laid_over",
    "pinned",
    "releases",
    "usual_name",
]
