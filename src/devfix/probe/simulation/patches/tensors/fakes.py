"""Fake tensors: C++ queries their device, and a CPU build has no guard for CUDA's.

Autograd would abort the process. C++ gets the same device as for simulated tensors; Python queries another method.
"""

from __future__ import annotations

from typing import Any

import torch
from torch._subclasses import fake_tensor

from ...accelerators import devices, kinds
from ...patching import replace, undo_with, wrap

_asks_device = torch.ops.prim.device.default
_handlers: Any = getattr(fake_tensor, "_DISPATCH_META_HANDLERS", {})


def _as_lazy(device: Any) -> Any:
    return devices.LAZY[device.index] if device.type == kinds.now().name and device.index is not None else device


def _by_class(original: Any) -> Any:
    def __torch_dispatch__(cls: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = original(func, types, args, {} if kwargs is None else kwargs)
        return _as_lazy(result) if func is _asks_device else result

    return classmethod(__torch_dispatch__)


def _by_mode(original: Any) -> Any:
    def handle(args: Any) -> Any:
        return _as_lazy(original(args))

    return handle


def _show(value: Any) -> Any:
    return devices.outer(value) if isinstance(value, torch.device) else value


def _showing(original: Any) -> Any:
    """Let a fake tensor have the device that Python names, whatever a constructor or a move was given inside."""

    def run(self: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = {name: _show(value) for name, value in (kwargs or {}).items()}
        return original(self, func, types, tuple(map(_show, args)), given)

    return run


def _knowing_clone(original: Any) -> Any:
    """Let parameters become fake where a module is copied: the mode knows `clone` by the method of C++."""
    of_base, shown = torch._C.TensorBase.clone, torch.Tensor.clone

    def __torch_function__(self: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return original(self, of_base if func is shown else func, types, args, kwargs)

    return __torch_function__


def install() -> None:
    """Patch the device of fake tensors in C++."""
    mode = fake_tensor.FakeTensorMode
    # As without a GPU: numbers become fake tensors on the host, and are moved by an operator that the mode sees.
    replace(mode, "avoid_device_init", property(lambda self: True))
    wrap(mode, "dispatch", _showing)
    wrap(fake_tensor.FakeCopyMode, "__torch_function__", _knowing_clone)
    replace(fake_tensor, "init_gpu_context", lambda device: None)  # would initialize the driver in a CUDA build
    wrap(fake_tensor.FakeTensor, "__torch_dispatch__", _by_class)
    original = _handlers.get(_asks_device)
    if original is not None:
        _handlers[_asks_device] = _by_mode(original)
        undo_with(lambda: _handlers.update({_asks_device: original}))
