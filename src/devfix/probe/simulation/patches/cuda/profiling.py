"""NVIDIA's profiler and ranges, and the Python API of the CUDA runtime: most calls are without effect."""

from __future__ import annotations

import ctypes
import enum
from typing import Any

import torch
import torch.autograd.profiler
import torch.cuda.profiler
from torch._C._profiler import ProfilerActivity, ProfilerConfig, ProfilerState

from ...accelerators import devices, stream_pools
from ...patching import replace, wrap
from ..tensors.hosts import pinned_ranges

# What `cudaGetErrorString` says, by number; 712 and 713 are those of memory that is registered twice, or not.
_TEXTS = {
    0: "no error", 1: "invalid argument", 2: "out of memory", 3: "initialization error", 4: "driver shutting down",
    100: "no CUDA-capable device is detected", 101: "invalid device ordinal", 400: "invalid resource handle",
    600: "device not ready", 700: "an illegal memory access was encountered", 710: "device-side assert triggered",
    712: "part or all of the requested memory range is already mapped",
    713: "pointer does not correspond to a registered memory region", 719: "unspecified launch failure",
    801: "operation not supported", 900: "operation not permitted when stream is capturing",
    901: "operation failed due to a previous error during capture", 999: "unknown error",
}  # fmt: skip


class cudaError(enum.IntEnum):
    """Result of a call of the runtime: one has a name, the others only numbers (torch/csrc/cuda/shared/cudart.cpp)."""

    success = 0

    @classmethod
    def _missing_(cls, value: object) -> Any:
        if not isinstance(value, int):
            return None
        made = int.__new__(cls, value)
        made._name_, made._value_ = "???", value
        return cls._value2member_map_.setdefault(value, made)

    def __str__(self) -> str:
        return f"cudaError.{self._name_}"


class Runtime:
    """The object that `torch.cuda.cudart()` returns."""

    cudaError = cudaError

    def cudaProfilerStart(self) -> Any:
        """Start no profiler."""
        return cudaError.success

    cudaProfilerStop = cudaProfilerStart

    def cudaGetErrorString(self, error: int) -> str:
        """Return the text of an error."""
        return _TEXTS.get(int(error), "unrecognized error code")

    def cudaHostRegister(self, pointer: int, size: int, flags: int) -> Any:
        """Count memory of the host as pinned."""
        end = pointer + size
        if any(first < end and pointer < last for first, last in pinned_ranges.items()):
            return cudaError(712)
        if not size:
            return cudaError(1)
        pinned_ranges[pointer] = end
        return cudaError.success

    def cudaHostUnregister(self, pointer: int) -> Any:
        """Count memory of the host as pageable again."""
        return cudaError(713) if pinned_ranges.pop(pointer, None) is None else cudaError.success

    def cudaStreamCreate(self, pointer: int) -> Any:
        """Write the address of a new stream to where the pointer leads."""
        if not pointer:
            return cudaError(1)
        stream = stream_pools.next_of(devices.current(), 0)
        ctypes.c_void_p.from_address(pointer).value = stream_pools.handle_of(stream, devices.current())
        return cudaError.success

    def cudaStreamDestroy(self, pointer: int) -> Any:
        """Destroy a stream, without effect."""
        return cudaError.success if pointer else cudaError(400)

    def cudaMemGetInfo(self, device: int) -> tuple[int, int]:
        """Return the free and the total memory of a GPU."""
        free, whole = torch.cuda.mem_get_info(device)
        return free, whole


_runtime = Runtime()


def _cudart() -> Runtime:
    devices.use()
    return _runtime


def _enter(self: Any) -> Any:
    if not self.enabled:
        return None
    if self.entered:
        raise RuntimeError("NVTX annotation context manager is not reentrant")
    self.entered = True
    return self


def _exit(self: Any, *error: Any) -> bool:
    return False


def _without_driver(original: Any) -> Any:
    """Wrap a function that starts PyTorch's profiler: it can record the CPU, on which simulated GPUs compute."""

    def call(config: Any, activities: Any, *rest: Any, **named: Any) -> Any:
        there = {each for each in activities if each is not ProfilerActivity.CUDA}
        return original(config, there or {ProfilerActivity.CPU}, *rest, **named)

    return call


def _config(kind: Any, *rest: Any, **named: Any) -> Any:
    """Configure the profiler without CUDA events: without a driver, it prints a C++ stack for each of them."""
    return ProfilerConfig(ProfilerState.KINETO if kind is ProfilerState.KINETO_GPU_FALLBACK else kind, *rest, **named)


def _with_cuda(original: Any) -> Any:
    """Wrap the list of the profiler's activities: without CUDA in it, GPU-only profiling is rejected."""
    return lambda: {*original(), ProfilerActivity.CUDA}


def install() -> None:
    """Patch the runtime and the profiler."""
    pinned_ranges.clear()
    for owner in (torch.cuda, torch._C):
        replace(owner, "_cudart", _runtime, add=True)
    for owner in (torch.cuda, torch.cuda.profiler):
        replace(owner, "cudart", _cudart)
    replace(torch.autograd.profiler.emit_nvtx, "__enter__", _enter)
    replace(torch.autograd.profiler.emit_nvtx, "__exit__", _exit)
    replace(torch.autograd.profiler, "ProfilerConfig", _config)
    for owner in (torch.autograd, torch.autograd.profiler):
        wrap(owner, "_supported_activities", _with_cuda)
    for name in ("_prepare_profiler", "_enable_profiler"):
        wrap(torch.autograd.profiler, name, _without_driver)
