"""Each simulated GPU has its own random stream, independent of the CPU's, as on CUDA."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from . import devices, kinds
from .generators import Generator, create_bare, raw_state, register_maker, set_raw_state

_CPU_GENERATOR = torch.default_generator

defaults: list[Any] = []
_owners: weakref.WeakValueDictionary[int, Generator] = weakref.WeakValueDictionary()


def make(gpu: int) -> Any:
    """Return a new generator of simulated GPU `gpu`."""
    generator: Any = create_bare()
    generator._devfix_gpu = gpu
    _owners[generator._cdata] = generator
    return generator


register_maker(make)


def owner(generator: Any) -> int:
    """Return the GPU of a generator, for which C++ may return another Python object."""
    known = _owners.get(generator._cdata)
    return -1 if known is None else known._devfix_gpu


def count(generator: Any) -> None:
    """Count a draw from a generator of a GPU, by which its offset grows."""
    known = _owners.get(generator._cdata)
    if known is not None:
        known._devfix_draws += 1


def states() -> list[tuple[Any, torch.Tensor, int]]:
    """Return each generator of a GPU, and where it is."""
    return [(known, raw_state(known), known._devfix_draws) for known in list(_owners.values())]


def restore(kept: list[tuple[Any, torch.Tensor, int]]) -> None:
    """Bring generators back to where they were."""
    for generator, state, draws in kept:
        set_raw_state(generator, state)
        generator._devfix_draws = draws


def install() -> None:
    """Create the default generator of each simulated GPU, with the CPU's seed."""
    defaults[:] = [make(gpu) for gpu in range(devices.installed_gpus())]
    for generator in defaults:
        generator.manual_seed(_CPU_GENERATOR.initial_seed())


def check(generator: Any, gpu: int) -> None:
    """Raise PyTorch's error if a generator belongs to another kind of device than the one that draws."""
    mine = owner(generator)
    name = kinds.now().name
    wanted, found = (name, "cpu") if gpu >= 0 else ("cpu", name)
    if (mine >= 0) != (gpu >= 0):
        raise RuntimeError(f"Expected a '{wanted}' device type for generator but found '{found}'")


def uses_gpu_stream(plan: Any, gpu: int | None, args: Any, keywords: dict[str, Any]) -> bool:
    """Return whether an operator draws from another stream than the CPU's default."""
    if not plan.random:
        return False
    if gpu is not None and gpu >= 0:
        return True
    return plan.generator and any(isinstance(item, torch.Generator) for item in (*args, *keywords.values()))


def run(plan: Any, gpu: int | None, args: Any, cells: Any, keywords: dict[str, Any]) -> Any:
    """Run an operator on its values, with random numbers of its device."""
    if not uses_gpu_stream(plan, gpu, args, keywords):
        return plan.op(*cells, **keywords)
    if gpu is not None and gpu >= 0 and plan.seeded is not None and keywords.get("generator") is None:
        default = defaults[gpu]
        default._devfix_draws += 1
        return plan.seeded(*cells, **{**keywords, "generator": default})
    with stream(plan, gpu, args, keywords):
        return plan.op(*cells, **keywords)


@contextmanager
def stream(plan: Any, gpu: int | None, args: Any, keywords: dict[str, Any]) -> Iterator[None]:
    """Let an operator draw from the generator it was given, else from the default one of its device."""
    gpu = -1 if gpu is None else gpu
    if not plan.random:
        yield
        return
    generator = keywords.get("generator") or next((item for item in args if isinstance(item, torch.Generator)), None)
    if generator is not None:
        check(generator, gpu)
        count(generator)
        yield
        return
    if gpu < 0:
        yield
        return
    default = defaults[gpu]
    default._devfix_draws += 1
    kept = _CPU_GENERATOR.get_state()
    _CPU_GENERATOR.set_state(raw_state(default))
    try:
        yield
    finally:
        set_raw_state(default, _CPU_GENERATOR.get_state())
        _CPU_GENERATOR.set_state(kept)
