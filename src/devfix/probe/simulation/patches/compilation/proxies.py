"""`make_fx` and higher-order operators: their view of the world's mode, which is on top of all others.

PyTorch's tracer is a mode below the world's. While there is one, the world leaves every operator to it, and is enabled
again for what the tracer itself runs.
"""

from __future__ import annotations

from typing import Any

import torch
from torch._higher_order_ops.cond import cond_op
from torch.fx.experimental.proxy_tensor import ProxyTorchDispatchMode

from ... import modes
from ...dispatcher import dispatch
from ...patching import undo_with, wrap

_mode_of: Any = torch._C._get_dispatch_mode
_PROXY, _FAKE = torch._C._TorchDispatchModeKey.PROXY, torch._C._TorchDispatchModeKey.FAKE
_AUTOGRAD = torch._C.DispatchKey.Autograd


class _Tracers:
    at_work = 0


def _leaving(self: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    if _mode_of(_PROXY) is not None:
        return func(*args, **(kwargs or {}))
    return dispatch.dispatch(self, func, types, args, kwargs)


def _count(more: int) -> None:
    """Leave operators to active tracers; a query in each operator would slow down other programs."""
    _Tracers.at_work += more
    chosen = _leaving if _Tracers.at_work > 0 else dispatch.chosen
    dispatch.World.__torch_dispatch__ = chosen  # type: ignore[method-assign]


def _entering(original: Any) -> Any:
    def __enter__(self: Any) -> Any:
        _count(1)
        return original(self)

    return __enter__


def _exiting(original: Any) -> Any:
    def __exit__(self: Any, *error: Any) -> Any:
        _count(-1)
        return original(self, *error)

    return __exit__


def _running(original: Any) -> Any:
    def __torch_dispatch__(self: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if _mode_of(_FAKE) is not None or not modes.world:
            return original(self, func, types, args, kwargs)
        with modes.enter_mode():
            return original(self, func, types, args, kwargs)

    return __torch_dispatch__


def _choosing(original: Any) -> Any:
    """Let autograd see the selected branch, since the compiler, which traces both, is not active."""

    def choose(pred: Any, true_fn: Any, false_fn: Any, operands: Any) -> Any:
        apart = all(getattr(item, "_devfix_gpu", -1) < 0 for item in operands)
        if apart or _mode_of(_PROXY) is not None or _mode_of(_FAKE) is not None:
            return original(pred, true_fn, false_fn, operands)
        return (true_fn if pred else false_fn)(*operands)

    return choose


def _set_gradient(kernel: Any) -> None:
    """Add an autograd kernel to `torch.cond`, and clear its cache."""
    cond_op.py_kernels[_AUTOGRAD] = kernel
    cond_op._dispatch_cache.clear()


def install() -> None:
    """Patch the tracer's mode, and the autograd kernel of `torch.cond`."""
    original = cond_op.py_kernels.get(_AUTOGRAD)
    if original is not None:
        _set_gradient(_choosing(original))
        undo_with(lambda: _set_gradient(original))
    _Tracers.at_work = 0
    undo_with(lambda: _count(-_Tracers.at_work))
    wrap(ProxyTorchDispatchMode, "__enter__", _entering)
    wrap(ProxyTorchDispatchMode, "__exit__", _exiting)
    wrap(ProxyTorchDispatchMode, "__torch_dispatch__", _running)
