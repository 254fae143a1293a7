"""Version information and switches of CUDA builds, which CPU builds lack or reject."""

from __future__ import annotations

from typing import Any

import torch
import torch.cuda.nvtx as nvtx
from torch.backends import ContextProp

from ...patching import replace
from ..kernels import fourier

_CUDA = "12.8"
_CUDNN = 91002


class _Ranges:
    """NVIDIA's profiler ranges, without effect."""

    def __init__(self) -> None:
        self._depth = 0

    def rangePushA(self, message: str) -> int:
        self._depth += 1
        return self._depth - 1

    def rangePop(self) -> int:
        self._depth -= 1
        return self._depth

    def rangeStartA(self, message: str) -> int:
        return 0

    def deviceRangeStart(self, message: str, stream: int) -> int:
        return 0

    def rangeEnd(self, handle: int) -> None:
        """End nothing."""

    deviceRangeEnd = rangeEnd

    def markA(self, message: str) -> None:
        """Mark nothing."""


def _resize_plans(index: int, size: int) -> None:
    if size < 0:
        raise RuntimeError(f"cuFFT plan cache size must be non-negative, but got {size}")
    fourier.limits[index] = size
    fourier.trim_plans(index)


def _install_plans() -> None:
    """Patch the caches of cuFFT's plans (CuFFTPlanCache.h)."""
    backends: Any = torch.backends.cuda
    made = backends.cuFFTPlanCacheAttrContextProp
    fixed = vars(backends.cuFFTPlanCache)["size"].setter
    most = made(lambda index: fourier.limits.get(index, fourier.MOST_PLANS), _resize_plans)
    replace(backends.cuFFTPlanCache, "size", made(lambda index: len(fourier.plans.get(index, ())), fixed))
    replace(backends.cuFFTPlanCache, "max_size", most)
    replace(backends.cuFFTPlanCache, "clear", lambda self: fourier.plans.pop(self.device_index, None) and None)


def install() -> None:
    """Patch versions, libraries and ranges, if this is not a CUDA build."""
    replace(nvtx, "_nvtx", _Ranges())
    _install_plans()
    if torch.version.cuda is not None:
        return
    replace(torch.version, "cuda", _CUDA)
    replace(torch.backends.cuda, "is_built", lambda: True)
    # Its functions find each other in the module behind the one that has properties.
    behind: Any = torch.backends.cudnn.m  # type: ignore[attr-defined]
    for owner in (torch.backends.cudnn, behind):
        replace(owner, "version", lambda: _CUDNN, add=True)
        replace(owner, "is_available", lambda: True, add=True)
    replace(behind, "_init", lambda: True, add=True)
    limit = ContextProp(  # None where there is no cuDNN
        lambda: torch._C._cuda_get_cudnn_benchmark_limit(),
        lambda count: torch._C._cuda_set_cudnn_benchmark_limit(count),
    )
    replace(type(torch.backends.cudnn), "benchmark_limit", limit)
    for owner in (torch.backends.cuda, torch._C):
        name = "is_flash_attention_available" if owner is torch.backends.cuda else "_is_flash_attention_available"
        replace(owner, name, lambda: True, add=True)
