"""`torch.autocast("cpu")` in test code: its author would cast on the GPU, where the tensors of the tests lie."""

from __future__ import annotations

import inspect
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

import torch

from ...simulation.accelerators import kinds
from ...simulation.patching import wrap
from ..whose import Whose, kind_of, works_for_test


class _Before(threading.local):
    """The values that the GPU had before each context that a thread has entered."""

    def __init__(self) -> None:
        self.values: list[Any] = []


def _set_for_both(get: Callable[[str], Any]) -> Callable[[Any], Any]:
    """Let what test code sets for the host hold on the GPU, too; TorchScript compiles the context manager itself.

    `get` returns what is set for a type of device, which a context gives back to the GPU when it ends.
    """

    def make(original: Any) -> Any:
        before = _Before()

        def set_autocast(device_type: Any, *value: Any) -> None:
            original(device_type, *value)
            context = sys._getframe(1)
            if device_type != "cpu" or not _is_of_test(context):
                return
            gpu = kinds.now().name
            if context.f_code.co_name == "__exit__" and before.values:
                original(gpu, before.values.pop())
                return
            if context.f_code.co_name == "__enter__":
                before.values.append(get(gpu))
            original(gpu, *value)

        return set_autocast

    return make


def _is_of_test(context: FrameType) -> bool:
    """Return whether test code has entered a context, or the function is test code that a context decorates."""
    caller = context.f_back
    if caller is None or caller.f_code.co_name != "decorate_autocast":
        return works_for_test(2)
    code = getattr(inspect.unwrap(caller.f_locals["func"]), "__code__", None)
    return code is not None and kind_of(code) == Whose.TEST


def install() -> None:
    """Patch what the context manager calls as it begins and ends."""
    wrap(torch, "set_autocast_enabled", _set_for_both(torch.is_autocast_enabled))
    wrap(torch, "set_autocast_dtype", _set_for_both(torch.get_autocast_dtype))
