"""Optimizers use lists of tensors on GPUs; on the CPU, a step per tensor is faster and uses less memory.

The check that the lists' tensors are on one device remains, with its message.
"""

from __future__ import annotations

import inspect
import sys
from typing import Any

import torch

from ...accelerators import devices
from ...dispatcher import composite_path
from ...patching import wrap
from ...tensors.tensor import Tensor, count_write
from ...tensors.tensor import wrap as wrap_tensor


def _one_by_one(single: Any) -> Any:
    steps = _parameters(single).index("state_steps") - 1 if "state_steps" in _parameters(single) else -1

    def make(original: Any) -> Any:
        def multi(params: Any, *args: Any, **kwargs: Any) -> Any:
            if not params or not all(isinstance(item, Tensor) and item._devfix_gpu >= 0 for item in params):
                return original(params, *args, **kwargs)
            lists = [item for item in args if isinstance(item, list)]
            torch.optim.Optimizer._group_tensors_by_device_and_dtype([params, *lists])
            if _together(params, args, kwargs, steps) and composite_path.possible() and not torch.is_grad_enabled():
                return _on_values(single, params, args, kwargs)
            return single(params, *args, **kwargs)

        return multi

    return make


def _together(params: Any, args: Any, kwargs: dict[str, Any], steps: int) -> bool:
    """Return whether all tensors of a step are on one GPU, except step counts, which may be on the host."""
    gpu = params[0]._devfix_gpu
    lists = [params, *(value for place, value in enumerate(args) if place != steps and isinstance(value, list))]
    return not kwargs.get("capturable") and all(
        item._devfix_gpu == gpu for each in lists for item in each if isinstance(item, Tensor)
    )


def _on_values(single: Any, params: Any, args: Any, kwargs: dict[str, Any]) -> None:
    """Take the step on the values of the tensors, as the CPU does; new states become simulated tensors."""
    gpu = params[0]._devfix_gpu
    lists = [params, *args]
    held = [[_host_value(item) for item in each] if isinstance(each, list) else _host_value(each) for each in lists]
    before = [list(each) if isinstance(each, list) else [] for each in held]
    with torch._C._DisableTorchDispatch():
        single(*held, **{name: _host_value(value) for name, value in kwargs.items()})
    for given, now, old in zip(lists, held, before):  # noqa: B905 - created together above
        for place, item in enumerate(old):
            if now[place] is not item:
                given[place] = wrap_tensor(now[place], gpu) if isinstance(now[place], Tensor) else now[place]
    for param in params:
        count_write(param)


def _host_value(value: Any) -> Any:
    return value._devfix_held if isinstance(value, Tensor) and value._devfix_gpu >= 0 else value


def _group_by_device(original: Any) -> Any:
    """Name the devices of groups as the program does, which then takes functions of lists for them."""

    def group(*args: Any, **kwargs: Any) -> Any:
        groups = original(*args, **kwargs)
        return {(devices.outer(device), dtype): group for (device, dtype), group in groups.items()}

    return group


def install() -> None:
    """Let each `_multi_tensor_X` do what its `_single_tensor_X` does, if both take the same arguments."""
    wrap(torch._C, "_group_tensors_by_device_and_dtype", _group_by_device)
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
