"""Allocator functions besides tensors: pools, raw blocks, and figures of pinned memory."""

from __future__ import annotations

import contextlib
import ctypes
import itertools
from collections.abc import Iterator
from typing import Any

import torch

from ...accelerators import devices, messages
from ...patching import replace
from ..accelerators import memory

_numbers = itertools.count(1)
_blocks: dict[int, Any] = {}  # the memory of each pointer that was returned


class MemPool:
    """An unused pool: a simulated tensor is in the host's memory."""

    def __init__(
        self, allocator: Any = None, use_on_oom: bool = False, symmetric: bool = False, no_split: bool = False
    ) -> None:
        devices.use()
        self._allocator = allocator
        self._id = (0, next(_numbers))

    @property
    def id(self) -> tuple[int, int]:
        """The number of the pool, with 0 as for all pools of a program."""
        return self._id

    @property
    def allocator(self) -> Any:
        """The allocator of the pool."""
        return self._allocator

    def use_count(self) -> int:
        """Return how many use the pool."""
        return 1

    def snapshot(self, include_traces: bool = True) -> list[Any]:
        """Return the segments of the pool."""
        return []


@contextlib.contextmanager
def use_mem_pool(pool: Any, device: Any = None) -> Iterator[None]:
    """Do not use the pool."""
    if device is not None:
        devices.spoken(device)
    yield


def _allocate(size: int, stream: int) -> int:
    try:
        block = ctypes.create_string_buffer(max(int(size), 1))
    except (MemoryError, OverflowError, ValueError):
        raise messages.out_of_memory(f"tried to allocate {int(size)} bytes", devices.current()) from None
    pointer = ctypes.addressof(block)
    _blocks[pointer] = block
    memory.raw[pointer] = devices.current(), len(block)
    return pointer


def _delete(pointer: int) -> None:
    if _blocks.pop(pointer, None) is None:
        raise RuntimeError(f"invalid device pointer: {hex(pointer)}")
    memory.raw.pop(pointer, None)


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
    for name, new in (("MemPool", MemPool), ("use_mem_pool", use_mem_pool)):
        for owner in (torch.cuda, torch.cuda.memory):
            replace(owner, name, new)
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
