"""Each simulated GPU has its own random stream, independent of the CPU's, as on CUDA."""

from __future__ import annotations

import struct
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from . import devices, kinds

_CPU_GENERATOR = torch.default_generator
_STATE_BYTES = _CPU_GENERATOR.get_state().numel()
_CUDA_BYTES = (16, 8)  # CUDAGeneratorImpl::set_state: the offset may be missing
_SKIPPED = 1 << 20  # numbers, at most, so that an offset begins elsewhere than the seed


class Generator(torch.Generator):
    """A generator of a simulated GPU: the CPU's algorithm, with its own device."""

    _devfix_gpu = -1

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        """The device whose operators may use this generator."""
        return devices.SHOWN[self._devfix_gpu] if self._devfix_gpu >= 0 else devices.CPU

    def clone_state(self) -> Any:
        """Return a new generator of the same device, in the same state."""
        made = make(self._devfix_gpu)
        made.set_state(self.get_state())
        return made

    def set_state(self, new_state: torch.Tensor) -> Any:
        """Set the state of a generator of this kind, or one that was saved on a real GPU: its seed and its offset."""
        size = new_state.numel() if kinds.now().is_cuda and isinstance(new_state, torch.Tensor) else _STATE_BYTES
        if size == _STATE_BYTES or new_state.device.type != "cpu" or new_state.dtype is not torch.uint8:
            return super().set_state(new_state)
        if size not in _CUDA_BYTES:
            raise RuntimeError("RNG state is wrong size")
        seed, offset = struct.unpack("<Qq", bytes(new_state.tolist()).ljust(16, b"\0"))
        self.manual_seed(seed)
        guard = torch._C._DisableTorchDispatch()  # for C++ it is a generator of the CPU
        torch.empty(min(offset // 4, _SKIPPED)).uniform_(generator=self)
        del guard
        return self

    def __reduce__(self) -> Any:
        """Pickle the generator with its own device."""
        make_one, _, state = super().__reduce__()
        return make_one, (self.device,), state


defaults: list[Any] = []
_owners: weakref.WeakValueDictionary[int, Generator] = weakref.WeakValueDictionary()


def make(gpu: int) -> Any:
    """Return a new generator of simulated GPU `gpu`."""
    generator: Any = Generator()
    generator._devfix_gpu = gpu
    _owners[generator._cdata] = generator
    return generator


def owner(generator: Any) -> int:
    """Return the GPU of a generator, for which C++ may return another Python object."""
    known = _owners.get(generator._cdata)
    return -1 if known is None else known._devfix_gpu


def install() -> None:
    """Create the default generator of each simulated GPU, with the CPU's seed."""
    defaults[:] = [make(gpu) for gpu in range(devices.installed())]
    for generator in defaults:
        generator.manual_seed(_CPU_GENERATOR.initial_seed())


def check(generator: Any, gpu: int) -> None:
    """Raise PyTorch's error if a generator belongs to another kind of device than the one that draws."""
    mine = owner(generator)
    name = kinds.now().name
    wanted, found = (name, "cpu") if gpu >= 0 else ("cpu", name)
    if (mine >= 0) != (gpu >= 0):
        raise RuntimeError(f"Expected a '{wanted}' device type for generator but found '{found}'")


def concerned(plan: Any, gpu: int | None, args: Any, keywords: dict[str, Any]) -> bool:
    """Return whether an operator draws from another stream than the CPU's default."""
    if not plan.random:
        return False
    if gpu is not None and gpu >= 0:
        return True
    return plan.generator and any(isinstance(item, torch.Generator) for item in (*args, *keywords.values()))


def run(plan: Any, gpu: int | None, args: Any, cells: Any, keywords: dict[str, Any]) -> Any:
    """Run an operator on its values, with random numbers of its device."""
    if not concerned(plan, gpu, args, keywords):
        return plan.op(*cells, **keywords)
    if gpu is not None and gpu >= 0 and plan.seeded is not None and keywords.get("generator") is None:
        return plan.seeded(*cells, **{**keywords, "generator": defaults[gpu]})
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
        yield
        return
    if gpu < 0:
        yield
        return
    kept = _CPU_GENERATOR.get_state()
    _CPU_GENERATOR.set_state(defaults[gpu].get_state())
    try:
        yield
    finally:
        defaults[gpu].set_state(_CPU_GENERATOR.get_state())
        _CPU_GENERATOR.set_state(kept)
