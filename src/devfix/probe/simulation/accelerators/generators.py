"""Generators of simulated GPUs: the CPU's algorithm, and the state of CUDA's, a seed and an offset."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import torch

from . import captures, devices, kinds

_STATE_BYTES = torch.default_generator.get_state().numel()
_CUDA_BYTES = (16, 8)  # CUDAGeneratorImpl::set_state: the offset may be missing
_STEP = 4  # by which a kernel moves the offset that draws at most 4 numbers in each thread, as most do
_SKIPPED = 1 << 20  # numbers, at most, so that an offset begins elsewhere than the seed
_KEPT = 4096  # states, of 5 KB each

raw_state = torch.Generator.get_state
set_raw_state = torch.Generator.set_state
_Original = torch.Generator
_makers: list[Callable[[int], Any]] = []  # what makes a generator of a GPU
_below = torch._C._DisableTorchDispatch  # active while the object exists
# The states of the CPU's algorithm behind the seeds and offsets that programs have been given, the latest last.
_known: dict[bytes, torch.Tensor] = {}


class _Kind(type(torch.Generator)):  # type: ignore[misc]
    """Counts the generators of the host among the instances, which C++ makes."""

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, _Original)


class Generator(torch.Generator, metaclass=_Kind):
    """A generator of a simulated GPU, and what a program sees as `torch.Generator`: the CPU's algorithm.

    On CUDA a state is a seed and an offset, which grows with each draw (ATen/cuda/CUDAGeneratorImpl.cpp).
    """

    _devfix_gpu = -1
    _devfix_named = True  # whether the program has named the GPU's index
    _devfix_draws = 0
    _devfix_shared: Any = None  # what stands for the state that `graphsafe_get_state` shares

    def __new__(cls, device: Any = "cpu") -> Any:
        """Return a new generator of a device."""
        index = _index_of(device)
        if index is None:
            return _Original(device)
        captures.assert_none("Cannot construct a new CUDAGeneratorImpl")
        made = _makers[0](index)
        named = device if type(device) is torch.device else torch.device(device)
        made._devfix_named = named.index is not None
        return made

    def __repr__(self) -> str:
        return f"<torch._C.Generator object at {id(self):#x}>"

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        """The device whose operators may use this generator: on CUDA without an index, if it was made without one."""
        if self._devfix_gpu < 0:
            return devices.CPU
        kind = kinds.now()
        has_index = self._devfix_named or not kind.is_cuda
        return torch.device(kind.name, self._devfix_gpu) if has_index else torch.device(kind.name)

    def manual_seed(self, seed: int) -> Any:
        """Set the seed, and the offset to 0. A capture takes only the seed that there is, and keeps the offset."""
        if captures.active() and captures.capturing():
            _assert_same_seed(self, seed)
            return self
        super().manual_seed(seed)
        self._devfix_draws = 0
        return self

    def seed(self) -> int:
        """Set a seed that differs each time, and return it."""
        captures.assert_none("Cannot call CUDAGeneratorImpl::seed")
        self._devfix_draws = 0
        return super().seed()

    def clone_state(self) -> Any:
        """Return a new generator of the same device, in the same state."""
        made = _twin(self)
        made._devfix_draws = self._devfix_draws
        set_raw_state(made, raw_state(self))
        return made

    def get_offset(self) -> int:
        """Return the offset."""
        captures.assert_none("Cannot call CUDAGeneratorImpl::get_offset")
        return self._devfix_draws * _STEP

    def set_offset(self, offset: int) -> Any:
        """Set the offset, with the seed that there is."""
        captures.assert_none("Cannot call CUDAGeneratorImpl::set_offset")
        if offset % _STEP:
            raise RuntimeError("offset must be a multiple of 4")
        self._place(_key(self.initial_seed(), offset))
        return self

    def get_state(self) -> torch.Tensor:
        """Return the state: the seed and the offset on CUDA, all of it elsewhere."""
        state = raw_state(self)
        if not kinds.now().is_cuda:
            return state
        key = _key(self.initial_seed(), self._devfix_draws * _STEP)
        _known.pop(key, None)
        _known[key] = state
        if len(_known) > _KEPT:
            del _known[next(iter(_known))]
        guard = _below()
        try:
            return torch.frombuffer(bytearray(key), dtype=torch.uint8).clone()
        finally:
            del guard

    def set_state(self, new_state: torch.Tensor) -> Any:
        """Set a state. One that `get_state` has returned in this process brings back its numbers."""
        if not kinds.now().is_cuda:
            return super().set_state(new_state)
        if not isinstance(new_state, torch.Tensor):
            raise TypeError(f"expected a torch.ByteTensor, but got {type(new_state).__name__}")
        if new_state.device.type != "cpu" or new_state.dtype is not torch.uint8 or not new_state.is_contiguous():
            raise TypeError("RNG state must be a torch.ByteTensor")
        if new_state.numel() not in _CUDA_BYTES:
            raise RuntimeError("RNG state is wrong size")
        self._place(bytes(new_state.tolist()).ljust(16, b"\0"))
        return self

    def graphsafe_get_state(self) -> Any:
        """Return a generator in the same state; it gets none of the later draws, as one that shares it would."""
        if self._devfix_shared is None:
            self._devfix_shared = object()
        made = self.clone_state()
        made._devfix_shared = self._devfix_shared
        return made

    def graphsafe_set_state(self, state: Any) -> Any:
        """Take the state of another generator, unless it is the own one."""
        if getattr(state, "_devfix_gpu", -1) < 0:
            raise RuntimeError("Expected a CUDA Generator")
        if state._devfix_shared is None or state._devfix_shared is not self._devfix_shared:
            set_raw_state(self, raw_state(state))
            self._devfix_draws, self._devfix_shared = state._devfix_draws, state._devfix_shared
        return self

    def _place(self, key: bytes) -> None:
        seed, offset = struct.unpack("<Qq", key)
        if captures.active() and captures.capturing():
            _assert_same_seed(self, seed)
        if offset % _STEP:
            raise RuntimeError("offset must be a multiple of 4")
        known = _known.get(key) if offset else None
        if known is not None:
            set_raw_state(self, known)
        else:
            super().manual_seed(seed)
            if offset:
                _skip(self, min(offset // _STEP, _SKIPPED))
        self._devfix_draws = offset // _STEP

    def __reduce__(self) -> Any:
        """Pickle the generator with its own device, and with all of its state."""
        make_one, _, (seed, _, state) = super().__reduce__()
        return make_one, (self.device,), (seed, self.get_offset(), state)

    def __setstate__(self, state: Any) -> None:
        seed, offset, whole = state
        if whole.numel() != _STATE_BYTES:  # it comes from a real GPU
            return self._place(_key(seed, offset or 0))
        set_raw_state(self, whole)
        self._devfix_draws = (offset or 0) // _STEP


def _assert_same_seed(generator: Generator, seed: int) -> None:
    if seed % (1 << 64) != generator.initial_seed() % (1 << 64):
        text = "set_current_seed can be called during stream capture only if new seed is the same as the original seed."
        raise RuntimeError(f"CUDAGeneratorImpl::{text}")


def _index_of(device: Any) -> int | None:
    """Return the index of the GPU of a new generator; `CUDAHooks::getNewGenerator` makes one of a missing GPU too."""
    if device == "cpu":
        return None
    if type(device) is torch.device:
        asked = device
    else:
        asked = torch.device("cuda", device) if type(device) is int else torch.device(device)
    if kinds.now().is_cuda and asked.type == "cuda" and asked.index is not None and not devices.exists(asked.index):
        return int(asked.index)
    return devices.index_named(device)


def create_bare() -> Generator:
    """Return a generator that has no device yet."""
    return _Original.__new__(Generator)


def register_maker(make: Callable[[int], Any]) -> None:
    """Register what makes a generator of a GPU."""
    _makers[:] = [make]


def _skip(generator: Generator, count: int) -> None:
    """Draw numbers, which go nowhere."""
    guard = _below()  # for C++ it is a generator of the CPU
    # A program may have set another default device or type.
    torch.empty(count, device="cpu", dtype=torch.float32).uniform_(generator=generator)
    del guard


def _key(seed: int, offset: int) -> bytes:
    return struct.pack("<Qq", seed % (1 << 64), offset)


def _twin(generator: Any) -> Any:
    if generator._devfix_gpu < 0:
        return torch.Generator(generator.device)
    made = _makers[0](generator._devfix_gpu)
    made._devfix_named = generator._devfix_named
    return made
