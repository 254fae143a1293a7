"""Casts that TorchScript inserts where a script uses `torch.autocast`.

`_autocast_to_reduced_precision` in ATen/native/TensorConversions.cpp casts what `is_cuda()`, which no simulated GPU is.
"""

from __future__ import annotations

from typing import Any

import torch

from ...patching import undo_with

_KEY = "AutogradLazy"  # of simulated tensors; the operators are composite, and nothing asks for a key below
_LOWER = (torch.float16, torch.bfloat16)


def _reduce(x: Any, on_gpus: bool, on_hosts: bool, dtype: torch.dtype, dtype_of_hosts: torch.dtype) -> Any:
    return x.to(dtype) if x.dtype is torch.float32 and on_gpus else x


def _restore(x: Any, on_gpus: bool, on_hosts: bool) -> Any:
    return x.to(torch.float32) if x.dtype in _LOWER and on_gpus else x


def install() -> None:
    """Give the operators kernels for simulated GPUs."""
    library = torch.library.Library("aten", "IMPL")
    library.impl("_autocast_to_reduced_precision", _reduce, _KEY)
    library.impl("_autocast_to_full_precision", _restore, _KEY)
    undo_with(library._destroy)
