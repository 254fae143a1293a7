"""Lay the patches of a world over PyTorch."""

from __future__ import annotations

from . import (
    accelerator,
    attributes,
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


def simulated() -> None:
    """Patch everything by which a program could tell a simulated GPU from a real one."""
    constructors.install()
    for subject in (
        attributes,
        conversions,
        hosts,
        indexing,
        parameters,
        storages,
        printing,
        cuda,
        streams,
        accelerator,
    ):
        subject.install()


def everywhere() -> None:
    """Patch what every world needs: threads and child processes that join it."""
    threads.install()
