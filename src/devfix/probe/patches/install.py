"""Lay the patches of a world over PyTorch."""

from __future__ import annotations

from . import (
    accelerator,
    attributes,
    autocast,
    builds,
    compiling,
    composites,
    constructors,
    conversions,
    cuda,
    direct,
    distributed,
    forks,
    futures,
    gradients,
    graphs,
    hosts,
    indexing,
    legacy,
    linear,
    memory,
    normalization,
    optimizers,
    parallel,
    parameters,
    printing,
    scripts,
    sharing,
    sparse,
    storages,
    streams,
    subclasses,
    threads,
)

_SUBJECTS = (
    constructors,
    sparse,
    attributes,
    direct,
    legacy,
    conversions,
    composites,
    linear,
    normalization,
    optimizers,
    hosts,
    indexing,
    parameters,
    storages,
    printing,
    cuda,
    forks,
    streams,
    memory,
    parallel,
    distributed,
    futures,
    graphs,
    autocast,
    gradients,
    compiling,
    scripts,
    accelerator,
    builds,
    sharing,
    subclasses,
)


def simulated() -> None:
    """Patch everything by which a program could tell a simulated GPU from a real one."""
    for subject in _SUBJECTS:
        subject.install()


def everywhere() -> None:
    """Patch what every world needs: threads and child processes that join it."""
    threads.install()
