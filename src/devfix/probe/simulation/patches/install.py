"""Install the patches of a world in PyTorch."""

from __future__ import annotations

from typing import Any

from ..accelerators import kinds
from .accelerators import accelerator, memory, mps, stream_classes, xpu
from .autograd import autocast, gradients
from .compilation import compiling, program_modes, proxies, script_autocast, scripting, scripts, tracing
from .cuda import builds, cuda, driver, graphs, nccl, pools, profiling, settings
from .kernels import (
    composites,
    determinism,
    fast_operators,
    fourier,
    higher_order,
    libraries,
    linear,
    normalization,
    one_hot,
    optimizers,
    recurrent,
)
from .processes import distributed, forks, futures, parallel, threads
from .tensors import (
    attributes,
    conversions,
    dlpack,
    fakes,
    hosts,
    identities,
    indexing,
    nested,
    parameters,
    printing,
    sharing,
    sparse,
    storages,
    subclasses,
)
from .tensors.construction import bare_numbers, constructors, legacy, subclass_constructors

_SUBJECTS: tuple[Any, ...] = (
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
    one_hot,
    optimizers,
    recurrent,
    hosts,
    dlpack,
    indexing,
    parameters,
    storages,
    printing,
    mps,
    xpu,
    cuda,
    forks,
    fourier,
    stream_classes,
    memory,
    pools,
    profiling,
    parallel,
    distributed,
    driver,
    settings,
    nccl,
    determinism,
    futures,
    graphs,
    autocast,
    gradients,
    compiling,
    scripts,
    scripting,
    script_autocast,
    tracing,
    program_modes,
    proxies,
    fakes,
    accelerator,
    builds,
    sharing,
    subclasses,
    identities,
)


# What only one kind of device has; the other subjects ask the kind of the world.
_OF_KIND: dict[Any, str] = {
    **dict.fromkeys(
        (
            cuda,
            forks,
            pools,
            profiling,
            parallel,
            driver,
            settings,
            nccl,
            determinism,
            graphs,
            builds,
            recurrent,
            script_autocast,
        ),
        "cuda",
    ),
    mps: "mps",
    xpu: "xpu",
}


def simulate() -> None:
    """Patch everything that distinguishes a simulated GPU from a real one for a program."""
    kind = kinds.now()
    for subject in _SUBJECTS:
        if _OF_KIND.get(subject, kind.name) == kind.name:
            subject.install()


def everywhere() -> None:
    """Patch what every world needs: threads and child processes that join it, and classes of tensors."""
    threads.install()
    subclass_constructors.install()
