"""NVIDIA's profiler and ranges, and the Python API of the CUDA runtime: all calls succeed, most without effect."""

from __future__ import annotations

import enum
from typing import Any

import torch
import torch.autograd.profiler
import torch.cuda.profiler
from torch._C._profiler import ProfilerActivity, ProfilerConfig, ProfilerState

from ...accelerators import devices
from ...patching import replace, wrap


class cudaError(enum.IntEnum):
    """Result of a call of the runtime."""

    success = 0


class Runtime:
    """The object that `torch.cuda.cudart()` returns."""

    cudaError = cudaError

    def cudaProfilerStart(self) -> Any:
        """Start no profiler."""
        return cudaError.success

    cudaProfilerStop = cudaProfilerStart

    def cudaGetErrorString(self, error: int) -> str:
        """Return the name of an error: there is none."""
        return "no error" if error == cudaError.success else "unrecognized error code"

    def cudaHostRegister(self, pointer: int, size: int, flags: int) -> Any:
        """Register host memory, without effect."""
        return cudaError.success

    def cudaHostUnregister(self, pointer: int) -> Any:
        """Unregister host memory."""
        return cudaError.success

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
