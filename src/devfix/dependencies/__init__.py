"""Distributions: the owner of a file, available releases, version pins, and declared dependencies."""

from devfix.dependencies.declared import Declared, declared_dependencies, distribution_for, usual_name
from devfix.dependencies.distributions import Distribution, distribution_of
from devfix.dependencies.overlay import laid_over
from devfix.dependencies.releases import import_path, install, new_conflict, releases
from devfix.dependencies.version_pins import Pin, pin_version

__all__ = [
    "Declared",
    "Distribution",
    "Pin",
    "declared_dependencies",
    "distribution_for",
    "distribution_of",
    "import_path",
    "install",
    "laid_over",
    "new_conflict",
    "pin_version",
    "releases",
    "usual_name",
]
