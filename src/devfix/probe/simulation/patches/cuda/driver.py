"""The C functions of CUDA builds that `torch.cuda` calls, and CPU builds lack."""

from __future__ import annotations

import functools
from typing import Any

import torch
import torch.cuda.comm  # imported by CUDA builds, but not by CPU builds

from ...accelerators import captures, devices
from ...dispatcher import graph_capture
from ...patching import replace
from ..accelerators import memory
from . import memory_history, pools

# What `use_mem_pool` calls, by the names of one release or another.
_OF_POOLS = (
    "beginAllocateToPool", "beginAllocateCurrentThreadToPool", "beginAllocateCurrentStreamToPool", "endAllocateToPool",
    "endAllocateCurrentStreamToPool", "releasePool",
)  # fmt: skip


def _snapshot(pool: Any = None, *args: Any) -> dict[str, Any]:
    wanted, traced = (tuple(pool[:2]), (*pool, True)[2]) if pool is not None else ((0, 0), True)
    segments = pools.all_segments() if wanted == (0, 0) else pools.segments(wanted)
    for block in (block for segment in segments for block in segment["blocks"]):
        block["frames"] = memory_history.frames_of(block["address"])
    return {
        "segments": segments,
        "device_traces": memory_history.traces() if traced else [[] for _ in range(devices.count())],
        "annotations": [],
        "allocator_settings": {},
    }


def _answers() -> dict[str, Any]:
    nothing = functools.partial(_give, None)
    answers: dict[str, Any] = {
        "getDeviceCount": devices.count, "getDevice": devices.current, "init": nothing, "sleep": nothing,
        "synchronize": _wait, "ipc_collect": nothing, "emptyCache": memory.empty,
        "set_sync_debug_mode": graph_capture.set_sync_mode, "get_sync_debug_mode": graph_capture.sync_mode,
        "getCurrentBlasHandle": functools.partial(_give, 0x7F0000001000),
        "getCurrentSolverHandle": functools.partial(_give, 0x7F0000002000),
        "getStreamFromExternal": lambda pointer, device: (pointer, device, 1),
        "memoryStats": memory.nested_stats, "memorySnapshot": _snapshot,
        "resetPeakMemoryStats": memory.reset, "resetAccumulatedMemoryStats": nothing,
        "getArchFlags": functools.partial(_give, "sm_80"),
        "canDeviceAccessPeer": lambda one, two: one != two, "allocationTraceback": nothing,
        "beginAllocateToPool": pools.begin, "beginAllocateCurrentThreadToPool": pools.begin,
        "beginAllocateCurrentStreamToPool": pools.begin, "endAllocateCurrentStreamToPool": pools.end,
        "endAllocateToPool": pools.end, "releasePool": nothing, "isCurrentStreamCapturing": captures.capturing,
    }  # fmt: skip
    return answers


def _give(answer: Any, *args: Any, **kwargs: Any) -> Any:
    return answer


def _wait() -> None:
    captures.wait_for_device(devices.current())


def install() -> None:
    """Patch the driver's functions."""
    graph_capture.reset()
    for name, answer in _answers().items():
        replace(torch._C, f"_cuda_{name}", answer, add=True)
    replace(torch.cuda.graphs, "_cuda_isCurrentStreamCapturing", captures.capturing)
    for name in _OF_POOLS:
        replace(torch.cuda.memory, f"_cuda_{name}", _answers()[name])
