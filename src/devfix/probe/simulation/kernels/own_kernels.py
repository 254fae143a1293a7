"""Operators with Python kernels: those that a program registers for CUDA, and higher-order operators."""

from __future__ import annotations

import sys
from typing import Any

import torch

from .. import modes
from ..accelerators import kinds, messages
from ..operator_tables.plans import plan_of, registered_keys, special
from ..patching import wrap
from ..tensors.unwrapping import rewrap, tensors_of, unwrap_all

_Key = torch._C.DispatchKey


def here(plan: Any, error: Exception) -> bool:
    """Return whether an operator failed because the program has registered it only for the device."""
    return isinstance(error, NotImplementedError) and _only_for_devices(plan.name)


def _only_for_devices(name: str) -> bool:
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    return not name.startswith("aten::") and has(name, kinds.now().key) and not has(name, "CPU")


def run(func: Any, args: Any, kwargs: Any) -> Any:
    """Run the kernel that the program has registered for the device, on its simulated tensors."""
    with modes.enter_mode():
        return func._op_dk(getattr(_Key, kinds.now().key), *args, **(kwargs or {}))


@special("*registered")
def run_registered(plan: Any, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Run an operator with the program's kernels as PyTorch does: by the device of its tensors, CUDA first.

    Kernels compiled for the CPU replace those for CUDA, which a build without CUDA lacks.
    """
    found = registered_keys(plan.name)
    on_gpu = any(tensor._devfix_gpu >= 0 for tensor in tensors_of(args, kwargs))
    own = ("BackendSelect", kinds.now().key if on_gpu else "CPU", "CompositeExplicitAutograd")
    key = next((key for key in own if key in found), "")
    if not key and on_gpu and "CPU" in found:
        raise messages.no_kernel(plan.name)
    if not key:
        return ordinary(func, args, kwargs)
    with modes.enter_mode():
        return func._op_dk(getattr(_Key, key), *args, **kwargs)


def ordinary(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Run an operator with compiled kernels on the values of its tensors."""
    cells, keywords, gpu = unwrap_all(args, kwargs)
    result = func._op(*cells, **keywords)
    return result if gpu in (None, -1) else rewrap(plan_of(func), result, args, kwargs, max(gpu or 0, 0))


@special("*higher order")
def higher_order(plan: Any, func: Any, args: Any, kwargs: Any) -> Any:
    """Run a higher-order operator as its decomposition."""
    kernel = func.py_kernels.get(_Key.CompositeExplicitAutograd)
    if kernel is None:
        raise NotImplementedError(f"{func.name()} does not run on simulated GPUs")
    _hide_world(sys.modules.get(kernel.__module__))
    with modes.enter_mode():
        return kernel(*args, **kwargs)


def _hide_world(module: Any) -> None:
    """Hide the world's mode from a module of PyTorch: some kernels do not run in a mode (`cond`, `scan`)."""
    name = "_get_current_dispatch_mode"
    if hasattr(module, name) and not hasattr(getattr(module, name), "_devfix_original"):
        wrap(module, name, _other_mode)


def _other_mode(original: Any) -> Any:
    def current() -> Any:
        mode = original()
        return None if mode in modes.world else mode

    return current
