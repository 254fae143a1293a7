"""Futures of collectives: their results are simulated tensors again, and callbacks run in the world.

Gloo works on the values of simulated tensors and calls back in a C++ thread, which Python has not started.
"""

from __future__ import annotations

import weakref
from typing import Any

import torch

from ... import modes
from ...patching import wrap
from ...tensors.tensor import Tensor

# By the identity of the inner tensor: its simulated tensor, while both exist.
_shells: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()


def remember(tensors: Any) -> None:
    """Register the simulated tensors of a collective."""
    for tensor in tensors:
        if tensor._devfix_gpu >= 0:
            _shells[id(tensor._devfix_held)] = tensor


def _wrap(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(map(_wrap, value))
    if isinstance(value, Tensor) and value._devfix_gpu < 0:
        shell = _shells.get(id(value))
        return shell if shell is not None and shell._devfix_held is value else value
    return value


def _giving(original: Any) -> Any:
    def give(self: Any) -> Any:
        return _wrap(original(self))

    return give


def _calling(original: Any) -> Any:
    def call(self: Any, callback: Any) -> Any:
        def in_world(future: Any) -> Any:
            modes.join_world()
            return callback(future)

        return original(self, in_world)

    return call


def install() -> None:
    """Patch PyTorch's futures."""
    if not torch.distributed.is_available():
        return
    for name in ("value", "wait"):
        wrap(torch._C.Future, name, _giving)
    for name in ("then", "add_done_callback"):
        wrap(torch._C.Future, name, _calling)
