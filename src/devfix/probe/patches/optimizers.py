"""Optimizers on GPUs work on lists of tensors; the CPU that computes is quicker, and wants less memory, one at a time.

The check that the lists' tensors lie together stays, with its own words.
"""

from __future__ import annotations

import inspect
import sys
from typing import Any

import torch

from ..patching import wrap
from ..tensor import Tensor


def _one_by_one(single: Any) -> Any:
    def make(original: Any) -> Any:
        def multi(params: Any, *args: Any, **kwargs: Any) -> Any:
            if not params or not all(isinstance(item, Tensor) and item._devfix_gpu >= 0 for item in params):
                return original(params, *args, **kwargs)
            lists = [item for item in args if isinstance(item, list)]
            torch.optim.Optimizer._group_tensors_by_device_and_dtype([params, *lists])
            return single(params, *args, **kwargs)

        return multi

    return make


def install() -> None:
    """Let each `_multi_tensor_X` do what its `_single_tensor_X` does, where both take the same arguments."""
    for name, module in list(sys.modules.items()):
        if not name.startswith("torch.optim."):
            continue
        for attribute in [key for key in vars(module) if key.startswith("_multi_tensor_")]:
            multi = getattr(module, attribute)
            single = getattr(module, attribute.replace("_multi_", "_single_"), None)
            if single is not None and _parameters(single) == _parameters(multi):
                wrap(module, attribute, _one_by_one(single))


def _parameters(function: Any) -> list[str]:
    return list(inspect.signature(function).parameters)
