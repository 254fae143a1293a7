"""Version information and switches of CUDA builds, which CPU builds lack or reject."""

from __future__ import annotations

from typing import Any

import torch
import torch.cuda.nvtx as nvtx

from ...patching import replace

_CUDA = "12.8"
_CUDNN = 91002
_PLANS = 4096  # of cuFFT, kept for each GPU (ATen/native/cuda/CuFFTPlanCache.h)


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


def _install_plans() -> None:
    """Patch the caches of cuFFT's plans, which stay empty, and keep their size (CuFFTPlanCache.h)."""
    backends: Any = torch.backends.cuda
    sizes: dict[int, int] = {}
    made = backends.cuFFTPlanCacheAttrContextProp
    fixed = vars(backends.cuFFTPlanCache)["size"].setter

    def resize(index: int, size: int) -> None:
        if size < 0:
            raise RuntimeError(f"cuFFT plan cache size must be non-negative, but got {size}")
        sizes[index] = size

    most = made(lambda index: sizes.get(index, _PLANS), resize)
    replace(backends.cuFFTPlanCache, "size", made(lambda index: 0, fixed))
    replace(backends.cuFFTPlanCache, "max_size", most)
    replace(backends.cuFFTPlanCache, "clear", lambda self: None)


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
