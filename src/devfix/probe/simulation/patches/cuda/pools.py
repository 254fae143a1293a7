"""Allocator functions besides tensors: pools, raw blocks, and figures of pinned memory."""

from __future__ import annotations

import ctypes
import itertools
import threading
from typing import Any, ClassVar

import torch

from ...accelerators import devices, messages
from ...patching import replace
from ...tensors import memory_peaks
from ..accelerators import memory
from ..accelerators.rebasing import rebase

_numbers = itertools.count(1)
_made: dict[Any, Any] = {}  # by PyTorch's class: a world that is entered again has the same one
_blocks: dict[int, Any] = {}  # the memory of each pointer that was returned


class MemPool:
    """A pool of memory: the base of `torch.cuda.MemPool`, as in torch/csrc/cuda/MemPool.cpp."""

    def __init__(self, allocator: Any = None, is_user_created: bool = True, *options: bool) -> None:
        devices.use()
        self._allocator, self._is_user_created = allocator, is_user_created
        self._id = (0, next(_numbers)) if is_user_created else (next(_numbers), 0)
        self._device = devices.current()

    @property
    def id(self) -> tuple[int, int]:
        """The number of the pool, with 0 for those of a program."""
        return self._id

    @property
    def allocator(self) -> Any:
        """The allocator of the pool."""
        return self._allocator

    @property
    def device(self) -> int:
        """The GPU that was current when the pool was made."""
        return self._device

    def use_count(self) -> int:
        """Return how many use the pool: the object, and contexts that allocate in it."""
        return 1 + sum(pool == self._id for _, pool in _allocating.of)


class MemPoolContext:
    """Context that older releases make beside `begin`, and to ask for the segments of one pool."""

    active: ClassVar[list[Any]] = []

    def __init__(self, pool: Any) -> None:
        self.active.append(pool)

    def __del__(self) -> None:
        if self.active:
            self.active.pop()

    @classmethod
    def active_pool(cls) -> Any:
        """Return the pool of the latest context."""
        return cls.active[-1] if cls.active else None


class _Contexts(threading.local):
    def __init__(self) -> None:
        self.of: list[tuple[int, tuple[int, int]]] = []  # GPU and pool of each context that was entered


_allocating = _Contexts()


class _Blocks(memory_peaks.Listener):
    """The pools of the memory that was taken in one."""

    def __init__(self) -> None:
        self.pools: dict[memory_peaks.Block, tuple[int, int]] = {}

    def note_taken(self, block: memory_peaks.Block) -> None:
        """Note the pool of the context."""
        pool = next((pool for gpu, pool in reversed(_allocating.of) if gpu == block.gpu), None)
        if pool is not None and block.size:
            self.pools[block] = pool

    def note_given_back(self, block: memory_peaks.Block) -> None:
        """Forget the pool."""
        self.pools.pop(block, None)


_blocks_of = _Blocks()


def begin(device: int, pool: Any, *args: Any) -> None:
    """Take memory from a pool from here on."""
    memory.follow()
    if _blocks_of not in memory_peaks.listeners:
        memory_peaks.listeners.append(_blocks_of)
    _allocating.of.append((devices.check_index(device), tuple(pool)))


def end(device: int, pool: Any, *args: Any) -> None:
    """Take no more memory from a pool."""
    if (device, tuple(pool)) in _allocating.of:
        _allocating.of.remove((device, tuple(pool)))


def segments(pool: tuple[int, int]) -> list[dict[str, Any]]:
    """Return the segments of a pool."""
    known = _places(pool)
    return [
        {**segment, "segment_pool_id": pool}
        for gpu in sorted({gpu for gpu, _ in known})
        for segment in memory.segments_of(gpu, {address for owner, address in known if owner == gpu})
    ]


def _places(pool: tuple[int, int] | None = None) -> set[tuple[int, int]]:
    """Return the GPU and the address of each block of a pool, or of all pools."""
    return {(block.gpu, block.address) for block, owner in _blocks_of.pools.items() if pool in (None, owner)}


def all_segments() -> list[dict[str, Any]]:
    """Return the segments of all GPUs, those of pools last; those of one pool in a context of older releases."""
    active = MemPoolContext.active_pool()
    if active is not None:
        return segments(active.id)
    found = [
        segment
        for gpu in range(devices.count())
        for segment in memory.snapshot(gpu, {address for owner, address in _places() if owner == gpu})
    ]
    return found + [segment for pool in sorted(set(_blocks_of.pools.values())) for segment in segments(pool)]


def _allocate(size: int, stream: int) -> int:
    if size < 0 and messages.VERSION >= (2, 13):  # as its CUDA library says; before, a number without a sign
        text = "caching_allocator_alloc requires a non-negative size."
        raise ValueError(f"Invalid memory size: {size}. {text}")
    size = int(size) % (1 << 64)
    try:
        block = ctypes.create_string_buffer(max(size, 1))
    except (MemoryError, OverflowError, ValueError):
        raise messages.out_of_memory(f"tried to allocate {size} bytes", devices.current()) from None
    pointer = ctypes.addressof(block)
    _blocks[pointer] = block
    memory.raw[pointer] = devices.current(), len(block)
    memory_peaks.take(memory_peaks.Block(devices.current(), pointer, len(block)))
    return pointer


def _delete(pointer: int) -> None:
    if _blocks.pop(pointer, None) is None:
        raise RuntimeError(f"invalid device pointer: {hex(pointer)}")
    gpu, size = memory.raw.pop(pointer)
    memory_peaks.give_back(memory_peaks.Block(gpu, pointer, size))


def _host_figures() -> dict[str, Any]:
    kinds = ("current", "peak", "allocated", "freed")
    figures: dict[str, Any] = {
        name: dict.fromkeys(kinds, 0)
        for name in ("allocations", "allocated_bytes", "active_requests", "active_bytes", "segments", "reserved_bytes")
    }
    for name in ("host_alloc_time", "host_free_time"):
        figures[name] = dict.fromkeys(("total", "max", "min", "count", "avg"), 0)
    return {**figures, "num_host_alloc": 0, "num_host_free": 0}


def install() -> None:
    """Patch pools, raw blocks, and the figures of pinned memory."""
    _allocating.of.clear()
    _blocks_of.pools.clear()
    for name, base in (("MemPool", MemPool), ("MemPoolContext", MemPoolContext)):
        original = getattr(torch.cuda.memory, name, None)
        if original is not None:
            if original not in _made:
                _made[original] = rebase(original, base)
            for owner in (torch.cuda, torch.cuda.memory):
                replace(owner, name, _made[original], add=True)
    functions: dict[str, Any] = {
        "_cuda_cudaCachingAllocator_raw_alloc": _allocate,
        "_cuda_cudaCachingAllocator_raw_delete": _delete,
        "_cuda_attach_out_of_memory_observer": messages.Memory.observers.append,
        "_cuda_hostMemoryStats": _host_figures,
        "_cuda_resetAccumulatedHostMemoryStats": lambda: None,
        "_cuda_resetPeakHostMemoryStats": lambda: None,
    }
    for name, new in functions.items():
        replace(torch._C, name, new, add=True)
