"""Functions that test code has compiled with `torch.jit.script`: what they make without a device is on the GPU.

TorchScript calls operators itself, where no factory of Python's sees that test code asks for a tensor.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from ...simulation.patching import replace, wrap
from .. import devices
from ..whose import Whose, kind_of, works_for_test

_of_test: dict[int, Any] = {}  # by identity; kept, for C++'s objects take no weak references


def _script(original: Any) -> Any:
    """Note which functions of test code are compiled."""

    # A class is compiled with the names of the frame that many above, of which this function is one.
    def script(obj: Any, optimize: Any = None, _frames_up: int = 0, *args: Any, **kwargs: Any) -> Any:
        made = original(obj, optimize, _frames_up + 1, *args, **kwargs)
        code = getattr(obj, "__code__", None)
        if code is not None and kind_of(code) == Whose.TEST:
            _of_test[id(made)] = made
        return made

    return script


def _move_result(original: Any) -> Any:
    """Move what a function of test code has made of no tensor, where it was told no device."""

    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
        made = original(self, *args, **kwargs)
        if id(self) not in _of_test or devices.has_own_default() or not works_for_test(1):
            return made
        is_told = any(isinstance(each, (torch.Tensor, torch.device)) for each in tree_leaves((args, kwargs)))
        return made if is_told else devices.lift(made)

    return __call__


def install() -> None:
    """Patch the compiler, and the call of what it makes."""
    _of_test.clear()
    wrap(torch.jit, "script", _script)
    replace(torch._C.ScriptFunction, "__call__", _move_result(torch._C.ScriptFunction.__call__))
