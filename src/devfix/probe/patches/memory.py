"""Memory figures: counted, when somebody asks, from the simulated tensors that are alive."""

from __future__ import annotations

import gc
from collections import OrderedDict
from typing import Any

import torch

from .. import devices
from ..patching import replace
from ..tensor import Tensor

TOTAL = 80 << 30
_peaks: dict[int, int] = {}


class _Garbage:
    left = False


def _index(device: Any = None) -> int:
    index = devices.current() if device is None else devices.spoken(device)
    return 0 if index is None else index


def allocated(device: Any = None) -> int:
    """The bytes that living tensors hold on a simulated GPU, shared memory counted once."""
    gpu = _index(device)
    if _Garbage.left:
        gc.collect(1)
    now = _living(gpu)
    if now and _Garbage.left:
        # A whole collection takes as long as the counting does: it waits until there is something to collect.
        _Garbage.left = False
        gc.collect()
        now = _living(gpu)
    _peaks[gpu] = max(now, _peaks.get(gpu, 0))
    return now


def _living(gpu: int) -> int:
    things = gc.get_objects()
    kinds = {kind for kind in set(map(type, things)) if issubclass(kind, Tensor)}
    tensors = [thing for thing in things if type(thing) in kinds and thing._devfix_gpu == gpu]
    held = [tensor._devfix_held for tensor in tensors]
    storages = [tensor.untyped_storage() for tensor in held if tensor.layout is torch.strided]
    return sum({storage.data_ptr(): storage.nbytes() for storage in storages}.values())


def peak(device: Any = None) -> int:
    """The most bytes that were seen; nobody looks between two questions."""
    allocated(device)
    return _peaks[_index(device)]


def forget() -> None:
    """Begin all peaks anew, and count nothing that only garbage holds when somebody asks next."""
    _peaks.clear()
    _Garbage.left = True


def reset(device: Any = None) -> None:
    """Begin the peak anew."""
    _peaks.pop(_index(device), None)


def stats(device: Any = None) -> Any:
    """The figures under the names that PyTorch's allocator gives them."""
    now = allocated(device)
    most = _peaks[_index(device)]
    figures = OrderedDict()
    for kind in ("allocated_bytes", "reserved_bytes", "active_bytes", "requested_bytes"):
        figures[f"{kind}.all.current"], figures[f"{kind}.all.peak"] = now, most
    figures["num_alloc_retries"] = figures["num_ooms"] = 0
    return figures


def install() -> None:
    """Patch the figures in torch.cuda and torch.accelerator."""
    answers: dict[str, Any] = {
        "memory_allocated": allocated, "memory_reserved": allocated, "memory_cached": allocated,
        "max_memory_allocated": peak, "max_memory_reserved": peak, "max_memory_cached": peak,
        "reset_peak_memory_stats": reset, "reset_max_memory_allocated": reset, "reset_max_memory_cached": reset,
        "reset_accumulated_memory_stats": lambda device=None: None,
        "memory_stats": stats, "memory_stats_as_nested_dict": stats,
        "memory_summary": lambda device=None, abbreviated=False: f"{allocated(device)} bytes allocated",
        "memory_snapshot": lambda *args, **kwargs: [],
        "mem_get_info": lambda device=None: (max(TOTAL - allocated(device), 1), TOTAL),
        "memory_usage": lambda device=None: 0, "empty_cache": lambda: None,
        "set_per_process_memory_fraction": lambda fraction, device=None: None,
        "get_per_process_memory_fraction": lambda device=None: 1.0,
        "list_gpu_processes": lambda device=None: "",
    }  # fmt: skip
    for owner in (torch.cuda, torch.cuda.memory, getattr(torch, "accelerator", None)):
        for name, answer in answers.items():
            if owner is not None and hasattr(owner, name):
                replace(owner, name, answer)
