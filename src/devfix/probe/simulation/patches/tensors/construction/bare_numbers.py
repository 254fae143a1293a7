"""`torch.device(1)` is the second GPU, also in a build without CUDA, where C++ knows no accelerator for the number.

`torch.device` is an immutable type from C, and has to stay the object that it is: programs compare `type(x)` with it.
A Python class in its place would fail them. What a call of a type does is decided by the type's own type, so that is
exchanged while the world lasts.
"""

from __future__ import annotations

import ctypes
from typing import Any

import torch

from ....accelerators import kinds
from ....patching import undo_with

_call = type.__call__  # `super()` would take twice as long
_TYPE_OFFSET = object.__basicsize__ - ctypes.sizeof(ctypes.c_void_p)  # of `ob_type`, the last field of every object


class _DeviceType(type):
    """The type of `torch.device` in the world."""

    # A type from C has no `__module__` of its own: without this, `torch.device` would name this module, for pickle too.
    __module__: Any = vars(type)["__module__"]

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and type(args[0]) is int and not kwargs:
            args = (kinds.now().name, args[0])
        return _call(cls, *args, **kwargs)


def _resolved_by_torch() -> bool:
    try:
        return bool(torch.device(0).type == kinds.now().name)
    except RuntimeError:
        return False


def install() -> None:
    """Exchange the type of `torch.device` where this build needs it."""
    field = ctypes.c_void_p.from_address(id(torch.device) + _TYPE_OFFSET)
    if _resolved_by_torch() or field.value != id(type):
        return
    field.value = id(_DeviceType)

    def restore() -> None:
        field.value = id(type)

    undo_with(restore)
