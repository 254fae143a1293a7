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
    determinism,
    direct,
    distributed,
    driver,
    forks,
    fourier,
    futures,
    gradients,
    graphs,
    hosts,
    identities,
    indexing,
    legacy,
    libraries,
    linear,
    memory,
    nested,
    normalization,
    optimizers,
    parallel,
    parameters,
    pools,
    printing,
    profiling,
    scripting,
    scripts,
    sharing,
    sparse,
    storages,
    streams,
    subclasses,
    threads,
    tracing,
)

_SUBJECTS = (
    constructors,
    sparse,
    attributes,
    direct,
    legacy,
    libraries,
    conversions,
    nested,
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
    fourier,
    streams,
    memory,
    pools,
    profiling,
    parallel,
    distributed,
    driver,
    determinism,
    futures,
    graphs,
    autocast,
    gradients,
    compiling,
    scripts,
    scripting,
    tracing,
    accelerator,
    builds,
    sharing,
    subclasses,
    identities,
)


def simulated() -> None:
    """Patch everything by which a program could tell a simulated GPU from a real one."""
    for subject in _SUBJECTS:
        subject.install()


def everywhere() -> None:
    """Patch what every world needs: threads and child processes that join it."""
    threads.install()
