"""Install the patches of a world in PyTorch."""

from __future__ import annotations

from .autograd import autocast, gradients
from .compilation import compiling, proxies, scripting, scripts, tracing
from .cuda import accelerator, builds, cuda, driver, graphs, memory, pools, profiling, streams
from .kernels import (
    composites,
    determinism,
    fast_operators,
    fourier,
    higher_order,
    libraries,
    linear,
    normalization,
    optimizers,
)
from .processes import distributed, forks, futures, parallel, threads
from .tensors import (
    attributes,
    bare_numbers,
    constructors,
    conversions,
    fakes,
    hosts,
    identities,
    indexing,
    legacy,
    nested,
    parameters,
    printing,
    sharing,
    sparse,
    storages,
    subclasses,
)

_SUBJECTS = (
    bare_numbers,
    constructors,
    sparse,
    attributes,
    fast_operators,
    legacy,
    higher_order,
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
    proxies,
    fakes,
    accelerator,
    builds,
    sharing,
    subclasses,
    identities,
)


def simulated() -> None:
    """Patch everything that distinguishes a simulated GPU from a real one for a program."""
    for subject in _SUBJECTS:
        subject.install()


def everywhere() -> None:
    """Patch what every world needs: threads and child processes that join it."""
    threads.install()
