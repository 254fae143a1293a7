"""`one_hot`: its C++ compares classes on simulated tensors, as it does on `meta`, and scatters on CUDA.

On CUDA the scatter finds classes out of range, and the host checks only how many there may be (ATen/native/Onehot.cpp).
"""

from __future__ import annotations

from typing import Any

import torch

from ... import hooks
from ...accelerators import kinds
from ...dispatcher import composite_path
from ...patching import replace, wrap
from ...tensors.tensor import Tensor


def _scattering(original: Any) -> Any:
    def one_hot(tensor: Any, num_classes: int = -1) -> Any:
        if not isinstance(tensor, Tensor) or tensor._devfix_gpu < 0 or not kinds.now().is_cuda:
            return original(tensor, num_classes)
        if type(tensor) not in composite_path.PLAIN or tensor.dtype is not torch.int64 or not tensor.numel():
            return original(tensor, num_classes)
        if not composite_path.alone() or type(num_classes) is not int:
            return original(tensor, num_classes)
        if num_classes < 1 and num_classes != -1:
            raise _without_classes(tensor, num_classes)
        least, most = tensor._devfix_held.aminmax()
        count = int(most) + 1 if num_classes == -1 else num_classes
        if int(least) >= 0 and int(most) < count:
            return original(tensor, num_classes)
        empty = torch.zeros((*tensor.shape, max(count, 0)), dtype=torch.int64, device=tensor.device)
        return empty.scatter_(-1, tensor.unsqueeze(-1), 1)

    return one_hot


def _without_classes(*args: Any) -> RuntimeError:
    """Report and return the error; no frame of its traceback keeps it, and the tensor with it."""
    error = RuntimeError("num_classes should be positive")
    hooks.failed(error, "torch.nn.functional.one_hot", args, {})
    return error


def install() -> None:
    """Patch the function and its name in torch.nn.functional."""
    wrap(torch._C._nn, "one_hot", _scattering)
    replace(torch.nn.functional, "one_hot", torch._C._nn.one_hot)
