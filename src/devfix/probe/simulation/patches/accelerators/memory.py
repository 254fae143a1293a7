"""Memory figures: computed on demand from the simulated tensors that are alive; peaks are tracked from then on."""

from __future__ import annotations

import gc
from collections import OrderedDict
from collections.abc import Collection
from typing import Any

import torch

from ...accelerators import devices, kinds, messages
from ...patching import replace
from ...tensors import memory_peaks
from ...tensors.tensor import Tensor
from .random_state import index_of

TOTAL = 80 << 30
_SMALL, _MEDIUM, _SEGMENT = memory_peaks.SMALL, memory_peaks.MEDIUM, memory_peaks.SEGMENT
_SHARED = 20 << 20  # bytes of a segment of larger blocks
_whole = memory_peaks.whole_of
raw: dict[int, tuple[int, int]] = {}  # GPU and size of the blocks that a program allocated without a tensor
_reserved: dict[int, int] = {}


class _Garbage:
    left = False


def _index(device: Any = None) -> int:
    if device is not None and kinds.now().is_cuda:
        return index_of(device, _missing)
    index = devices.current() if device is None else devices.index_named(device)
    return 0 if index is None else index


def _missing(index: int) -> RuntimeError:
    """Return the error of `assertValidDevice` in c10/cuda/CUDACachingAllocator.cpp for a GPU that does not exist.

    `DeviceIndex` is an int8, which C++ writes as a character.
    """
    return RuntimeError(f"Invalid device argument {chr(index & 127)}: did you call init?")


def allocated_bytes(device: Any = None) -> int:
    """Return the bytes that living tensors hold on a simulated GPU, shared memory counted once."""
    if kinds.now().is_cuda and not devices.is_used():
        return 0  # `memory_stats` in torch/cuda/memory.py has no figures before CUDA is initialized
    gpu = _index(device)
    if _Garbage.left:
        gc.collect(1)
    now = _living(gpu)
    if now and _Garbage.left:
        # A full collection takes as long as the count: it is delayed until there is something to collect.
        _Garbage.left = False
        gc.collect()
        now = _living(gpu)
    memory_peaks.raise_to(gpu, now)
    return now


def _tensors() -> list[Any]:
    things = gc.get_objects()
    classes = {kind for kind in set(map(type, things)) if issubclass(kind, Tensor)}
    return [thing for thing in things if type(thing) in classes and thing._devfix_gpu >= 0]


def _living(gpu: int) -> int:
    return sum(_blocks(gpu))


def _requested_blocks(gpu: int) -> dict[int, int]:
    """Return the address and the size of each block that something alive has asked for."""
    held = [tensor._devfix_held for tensor in _tensors() if tensor._devfix_gpu == gpu]
    storages = [tensor.untyped_storage() for tensor in held if tensor.layout is torch.strided]
    sizes = {storage.data_ptr(): storage.nbytes() for storage in storages}
    sizes.update((pointer, size) for pointer, (owner, size) in raw.items() if owner == gpu)
    return {pointer: size for pointer, size in sizes.items() if size}


def _blocks(gpu: int) -> list[int]:
    return [memory_peaks.round_size(size) for size in _requested_blocks(gpu).values()]


def _segments(gpu: int) -> int:
    """Return the bytes of the segments in which the allocator keeps what lives."""
    found = [0, 0, 0]
    for size in _blocks(gpu):
        kind = 0 if size <= _SMALL else 1 if size < _MEDIUM else 2
        found[kind] += size if kind < 2 else _whole(size, _SEGMENT)
    return _whole(found[0], _SEGMENT) + _whole(found[1], _SHARED) + found[2]


def reserved_bytes(device: Any = None) -> int:
    """Return the bytes of the segments that were seen in use, and are kept until the cache is emptied."""
    if kinds.now().is_cuda and not devices.is_used():
        return 0
    gpu = _index(device)
    allocated_bytes(device)  # collects garbage first
    _reserved[gpu] = max(_segments(gpu), _reserved.get(gpu, 0))
    return _reserved[gpu]


def peak_reserved(device: Any = None) -> int:
    """Return the bytes of the segments at the peak."""
    return max(reserved_bytes(device), _whole(peak(device), _SEGMENT))


def empty() -> None:
    """Give the segments back in which nothing lives."""
    _reserved.clear()


def peak(device: Any = None) -> int:
    """Return the peak of held bytes since the first query of a peak, or since its reset."""
    now = allocated_bytes(device)
    follow()
    return now if kinds.now().is_cuda and not devices.is_used() else memory_peaks.raise_to(_index(device), now)


def forget() -> None:
    """Reset all peaks, and exclude garbage from the next figures."""
    memory_peaks.most.clear()
    _reserved.clear()
    _Garbage.left = True


def reset(device: Any = None) -> None:
    """Reset the peak."""
    follow()
    memory_peaks.begin_again(_index(device))


def limit(gpu: int, fraction: float) -> None:
    """Let the process take a fraction of a GPU's memory, and no more."""
    if fraction >= 1:
        memory_peaks.limits.pop(gpu, None)
        messages.Memory.allowed.pop(gpu, None)
        return
    follow()
    memory_peaks.limits[gpu] = messages.Memory.allowed[gpu] = int(fraction * TOTAL)


def reset_totals(device: Any = None) -> None:
    """Count allocations from here on."""
    follow()
    gpu = _index(device)
    for key in [key for key in memory_peaks.totals if key[0] == gpu]:
        del memory_peaks.totals[key]


def follow() -> None:
    """Track memory as it is taken and given back from here on."""
    memory_peaks.follow(_tensors())


def stats(device: Any = None) -> Any:
    """Return the figures under the names of PyTorch's allocator."""
    if kinds.now().is_cuda and not devices.is_used():
        return OrderedDict()
    most, segments_most, gpu = peak(device), peak_reserved(device), _index(device)
    found = snapshot(gpu)
    figures: dict[str, int] = {}
    for pool in ("all", "large_pool", "small_pool"):
        segments = [each for each in found if pool in ("all", f"{each['segment_type']}_pool")]
        blocks = [each for segment in segments for each in segment["blocks"] if each["state"] != "inactive"]
        bytes_now, asked = (sum(each[name] for each in blocks) for name in ("size", "requested_size"))
        total = sum(each["total_size"] for each in segments)
        for kind, now, peaked in (
            ("allocation", len(blocks), 0), ("segment", len(segments), 0), ("active", len(blocks), 0),
            ("inactive_split", len(segments), 0), ("allocated_bytes", bytes_now, most),
            ("reserved_bytes", total, segments_most), ("active_bytes", bytes_now, most),
            ("inactive_split_bytes", total - bytes_now, 0), ("requested_bytes", asked, 0),
        ):  # fmt: skip
            once = max(now, peaked if pool == "all" else 0)
            for metric, figure in (("current", now), ("peak", once), ("allocated", once), ("freed", once - now)):
                figures[f"{kind}.{pool}.{metric}"] = figure
        for metric, taken in (("allocated", True), ("freed", False)):
            count, size = memory_peaks.total(gpu, pool, taken=taken)
            figures |= {f"{kind}.{pool}.{metric}": count for kind in ("allocation", "active")}
            figures |= {f"{kind}.{pool}.{metric}": size for kind in ("allocated_bytes", "active_bytes")}
    for kind in ("oversize_allocations", "oversize_segments"):
        figures.update({f"{kind}.{metric}": 0 for metric in ("current", "peak", "allocated", "freed")})
    figures.update(dict.fromkeys(_COUNTS, 0), num_ooms=messages.Memory.refusals.get(gpu, 0))
    return OrderedDict(sorted(figures.items()))


def snapshot(gpu: int, elsewhere: Collection[int] = ()) -> list[dict[str, Any]]:
    """Return the segments of a GPU and the blocks in them, one segment for the small blocks and one for the others.

    Blocks at the addresses `elsewhere` have segments of their own.
    """
    reserved_bytes(gpu)
    asked = {at: size for at, size in _requested_blocks(gpu).items() if at not in elsewhere}
    return _segments_with(gpu, asked, _reserved.get(gpu, 0) if not elsewhere else 0)


def segments_of(gpu: int, addresses: set[int]) -> list[dict[str, Any]]:
    """Return the segments that some blocks of a GPU have for themselves."""
    return _segments_with(gpu, {at: size for at, size in _requested_blocks(gpu).items() if at in addresses}, 0)


def _segments_with(gpu: int, asked: dict[int, int], whole: int) -> list[dict[str, Any]]:
    large = {pointer: size for pointer, size in asked.items() if memory_peaks.round_size(size) > _SMALL}
    small = {pointer: size for pointer, size in asked.items() if pointer not in large}
    pools = {"small": small, "large": large}
    held = {kind: sum(map(memory_peaks.round_size, sizes.values())) for kind, sizes in pools.items()}
    totals = {"small": _whole(held["small"], _SEGMENT)}
    totals["large"] = max(whole - totals["small"], held["large"])
    if not large and totals["large"]:  # what is kept of small blocks
        totals = {"small": sum(totals.values()), "large": 0}
    return [_segment(gpu, kind, pools[kind], held[kind], totals[kind]) for kind in pools if totals[kind]]


def _segment(gpu: int, kind: str, sizes: dict[int, int], held: int, total: int) -> dict[str, Any]:
    blocks = [
        {"address": pointer, "size": memory_peaks.round_size(size), "requested_size": size, "state": "active_allocated",
         "frames": []} for pointer, size in sizes.items()
    ]  # fmt: skip
    if total > held:
        free = {"address": 0, "size": total - held, "requested_size": 0, "state": "inactive", "frames": []}
        blocks.append(free)
    return {
        "device": gpu, "address": min(sizes, default=0), "total_size": total, "allocated_size": held,
        "active_size": held, "requested_size": sum(sizes.values()), "stream": 0, "segment_type": kind,
        "segment_pool_id": (0, 0), "is_expandable": False, "frames": [], "blocks": blocks,
    }  # fmt: skip


def snapshots(*args: Any, **kwargs: Any) -> list[dict[str, Any]]:
    """Return the segments of all GPUs."""
    return [segment for gpu in range(devices.count()) for segment in snapshot(gpu)]


def nested_stats(device: Any = None) -> Any:
    """Return the figures as dictionaries of dictionaries, as the allocator does."""
    figures: dict[str, Any] = {}
    for name, figure in stats(device).items():
        *parts, last = name.split(".")
        place = figures
        for part in parts:
            place = place.setdefault(part, {})
        place[last] = figure
    return figures


_COUNTS = ("num_alloc_retries", "num_device_alloc", "num_device_free", "num_ooms", "num_sync_all_streams",
           "max_split_size")  # fmt: skip


def _summary(device: Any = None, abbreviated: bool = False) -> str:
    """Return a table with the heading of PyTorch's."""
    head = f"PyTorch {kinds.now().key} memory summary, device ID {_index(device)}"
    rows = (f"| {name:<21} | {figure:>12} bytes |" for name, figure in
            (("Allocated memory", allocated_bytes(device)), ("Peak usage", peak(device))))  # fmt: skip
    return "\n".join((f"|{head:^75}|", *rows))


def _free(device: Any = None) -> tuple[int, int]:
    """Return the bytes that are free and those in all, which the driver tells once it is in use."""
    gpu = index_of(device)
    devices.use()
    return max(TOTAL - reserved_bytes(gpu), 1), TOTAL


def _figures(gpu: int) -> tuple[int, int, int, int]:
    """Return the bytes of a GPU in all, those free, those allocated and those reserved."""
    return TOTAL, max(TOTAL - reserved_bytes(gpu), 1), allocated_bytes(gpu), reserved_bytes(gpu)


def install() -> None:
    """Patch the figures in torch.cuda or torch.xpu, and in torch.accelerator."""
    answers: dict[str, Any] = {
        "memory_allocated": allocated_bytes, "memory_reserved": reserved_bytes,
        "max_memory_allocated": peak, "max_memory_reserved": peak_reserved,
        "reset_peak_memory_stats": reset,
        "reset_accumulated_memory_stats": reset_totals,
        "memory_stats": stats, "memory_stats_as_nested_dict": nested_stats,
        "get_memory_info": _free, "mem_get_info": _free,
        "memory_usage": lambda device=None: 0, "empty_cache": empty,
        "list_gpu_processes": lambda device=None: "",
    }  # fmt: skip
    _reserved.clear()
    messages.Memory.refusals.clear()
    messages.Memory.observers.clear()
    messages.Memory.allowed.clear()
    messages.Memory.figures = _figures
    if not kinds.now().is_cuda:  # of CUDA, the driver's own functions keep it, and PyTorch's summary shows the figures
        answers["memory_summary"] = _summary
        answers["memory_snapshot"] = snapshots
        answers["set_per_process_memory_fraction"] = lambda fraction, device=None: None
        answers["get_per_process_memory_fraction"] = lambda device=None: 1.0
    own = None if kinds.now().name == "mps" else getattr(torch, kinds.now().name)
    for owner in (own, getattr(own, "memory", None), getattr(torch, "accelerator", None)):
        for name, answer in answers.items():
            if owner is not None and hasattr(owner, name):
                replace(owner, name, answer)
