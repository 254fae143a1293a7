"""Composite operators that PyTorch's C++ treats otherwise on MPS, above the operators that the world sees.

They are wrapped where Python calls them, and what they call asks here who the caller is.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import torch

from ..patching import wrap
from . import messages


class _Callers(threading.local):
    decomposing = 0
    measuring = 0


_callers = _Callers()
_OF_MATRICES = ((torch, "pinverse"), (torch.Tensor, "pinverse"), (torch.linalg, "pinv"))
# MPSFallback.mm names `linalg_svd`, but not the `_linalg_svd` in it, which `svdvals`, `cond` and norms call.
_DECOMPOSING = ((torch, "svd"), (torch.Tensor, "svd"), (torch.linalg, "svd"), *_OF_MATRICES)
# `get_atol_rtol` in ATen/native/LinearAlgebra.cpp makes tolerances of float32 on MPS, and of float64 elsewhere.
_MEASURING = ((torch.linalg, "matrix_rank"), *_OF_MATRICES)


def is_decomposing() -> bool:
    """Return whether a singular value decomposition comes from `linalg_svd`, which runs on the CPU."""
    return _callers.decomposing > 0


def present(held: torch.Tensor) -> torch.Tensor:
    """Return the values of a tensor whose dtype MPS lacks in one that it has. Raises PyTorch's error if none is due."""
    if _callers.measuring and held.dtype is torch.float64:
        return held.to(torch.float32)
    raise messages.absent_dtype(held.dtype)


def _counting(name: str) -> Callable[[Any], Any]:
    def make(original: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            setattr(_callers, name, getattr(_callers, name) + 1)
            try:
                return original(*args, **kwargs)
            finally:
                setattr(_callers, name, getattr(_callers, name) - 1)

        return call

    return make


def install() -> None:
    """Wrap the operators."""
    for owner, name in _DECOMPOSING:
        wrap(owner, name, _counting("decomposing"))
    for owner, name in _MEASURING:
        wrap(owner, name, _counting("measuring"))
