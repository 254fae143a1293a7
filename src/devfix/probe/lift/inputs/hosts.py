"""Copy what test code takes to the host, as its author would: arrays, comparisons."""

from __future__ import annotations

from typing import Any

import torch
import torch.testing
from torch.utils._pytree import tree_leaves

from ...simulation.patching import wrap
from .. import devices
from ..findings import silent
from ..whose import works_for_test


def _copied(original: Any) -> Any:
    """Let a method of a tensor on the GPU read a copy on the host."""

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        is_on_gpu = devices.is_on_gpu(self)
        if (is_on_gpu or silent.is_looked_at(self)) and works_for_test(1):
            silent.check(self, original.__name__)
            return original(self.cpu() if is_on_gpu else self, *args, **kwargs)
        return original(self, *args, **kwargs)

    return call


def _compared(original: Any) -> Any:
    """Let a comparison of two tensors leave out where they lie; the values come to the host."""

    def assert_close(actual: Any, expected: Any, *args: Any, **kwargs: Any) -> Any:
        if "check_device" not in kwargs and works_for_test(1):
            kwargs["check_device"] = False
            if len({each.device for each in tree_leaves((actual, expected)) if isinstance(each, torch.Tensor)}) > 1:
                for each in tree_leaves(actual):
                    if silent.look((each,), is_read=True):
                        silent.fail("torch.testing.assert_close", each)
        return original(actual, expected, *args, **kwargs)

    return assert_close


def install() -> None:
    """Patch the ways out."""
    wrap(torch.Tensor, "numpy", _copied)
    wrap(torch.Tensor, "__array__", _copied)
    wrap(torch.testing, "assert_close", _compared)
