"""Copy what test code takes to the host, as its author would: arrays, comparisons."""

from __future__ import annotations

import sys
from typing import Any

import torch
import torch.testing
from torch.utils._pytree import tree_leaves

from ...simulation.patching import wrap
from .. import devices
from ..findings import silent
from ..whose import works_for_test


def _read_copy(original: Any) -> Any:
    """Let a method of a tensor on the GPU read a copy on the host."""

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        is_on_gpu = devices.is_on_gpu(self)
        if (is_on_gpu or silent.is_looked_at(self)) and works_for_test(1):
            silent.check(self, original.__name__)
            return original(self.cpu() if is_on_gpu else self, *args, **kwargs)
        return original(self, *args, **kwargs)

    return call


def _compare_on_host(original: Any) -> Any:
    """Let a comparison of two tensors leave out where they lie; the values come to the host."""

    def assert_close(actual: Any, expected: Any, *args: Any, **kwargs: Any) -> Any:
        is_check_of_trace = sys._getframe(1).f_globals.get("__name__") == "torch.jit._trace"  # constants of a graph
        if "check_device" not in kwargs and not is_check_of_trace and works_for_test(1):
            kwargs["check_device"] = False
            for each in tree_leaves(actual):
                is_looked_for = silent.look((each,), is_read=True)
                is_looked_for = (devices.holds_gpu(expected) and silent.look_taken((each,))) or is_looked_for
                if is_looked_for:
                    silent.fail("torch.testing.assert_close", each)
        return original(actual, expected, *args, **kwargs)

    return assert_close


def _compared_on_host(original: Any) -> Any:
    """Look at what test code compares on the host alone; what it compares with a tensor on a GPU is seen there."""

    def compare(one: Any, other: Any, *args: Any, **kwargs: Any) -> Any:
        both = [each for each in (one, other) if isinstance(each, torch.Tensor)]
        if all(map(silent.is_looked_at, both)) and works_for_test(1):
            for each in both:
                silent.check(each, original.__name__)
        return original(one, other, *args, **kwargs)

    return compare


def install() -> None:
    """Patch the ways out."""
    wrap(torch.Tensor, "numpy", _read_copy)
    wrap(torch.Tensor, "__array__", _read_copy)
    wrap(torch.testing, "assert_close", _compare_on_host)
    for owner in (torch, torch.Tensor):
        for name in ("equal", "allclose"):
            wrap(owner, name, _compared_on_host)
