"""Version information and switches of CUDA builds, which CPU builds lack or reject."""

from __future__ import annotations

import torch
import torch.cuda.nvtx as nvtx

from ...patching import replace

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


def install() -> None:
    """Patch versions, libraries and ranges, if this is not a CUDA build."""
    replace(nvtx, "_nvtx", _Ranges())
    if torch.version.cuda is not None:
        return
    replace(torch.version, "cuda", _CUDA)
    replace(torch.backends.cuda, "is_built", lambda: True)
    replace(torch.backends.cudnn, "version", lambda: _CUDNN, add=True)
    replace(torch.backends.cudnn, "is_available", lambda: True, add=True)
