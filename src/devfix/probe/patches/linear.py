"""`linear`, the operator that programs run most, whole where it can be."""

from __future__ import annotations

from typing import Any

import torch

from .. import whole
from ..patching import replace, wrap

_func = torch.ops.aten.linear.default


def _whole(original: Any) -> Any:
    def linear(input: Any, weight: Any, bias: Any = None) -> Any:
        tensors = (input, weight) if bias is None else (input, weight, bias)
        if whole.possible(*tensors):
            gpu = input._devfix_gpu
            if all(tensor._devfix_gpu == gpu for tensor in tensors):
                return whole.run(original, _func, (input, weight, bias), {}, gpu)
        return original(input, weight, bias)

    return linear


def install() -> None:
    """Patch `linear` where torch.nn.functional and its users find it."""
    wrap(torch._C._nn, "linear", _whole)
    replace(torch.nn.functional, "linear", torch._C._nn.linear)  # one object, as it is: `__torch_function__` may ask
