"""Lay the patches of a world over PyTorch."""

from __future__ import annotations

from . import (
    accelerator,
    attributes,
    composites,
    constructors,
    conversions,
    cuda,
    hosts,
    indexing,
    parameters,
    printing,
    storages,
    streams,
    threads,
)

_SUBJECTS = (
    constructors,
    attributes,
    conversions,
    composites,
    hosts,
    indexing,
    parameters,
    storages,
    printing,
    cuda,
    streams,
    accelerator,
)


def simulated() -> None:
    """Patch everything by which a program could tell a simulated GPU from a real one."""
    for subject in _SUBJECTS:
        subject.install()


def everywhere() -> None:
    """Patch what every world needs: threads and child processes that join it."""
    threads.install()
