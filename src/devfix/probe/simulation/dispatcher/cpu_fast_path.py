"""Run plain operators on host tensors without the world's mode, which would only record a creation.

In a world of simulated GPUs much still runs on the host: loaders, masks, whole tests of a suite.
"""

from __future__ import annotations

from typing import Any

import torch

from .. import hooks
from ..accelerators import randomness
from ..accelerators.devices import CPU
from ..native import loading as native
from ..tensors.tensor import Tensor
from .composite_path import PLAIN, alone, listening, packs

SIMPLE = frozenset(
    (int, float, bool, complex, str, type(None), tuple, list, torch.Size, torch.dtype, torch.memory_format)
)
_GENERATOR = torch._C.Generator  # the class of the host's; those of simulated GPUs have one of their own
below = torch._C._DisableTorchDispatch  # active while the object exists; a `with` statement would cost more


def are_simple(values: Any) -> bool:
    """Return whether arguments are neither tensors nor devices, so that they have no effect on the device."""
    for value in values:  # noqa: SIM110 - a generator would cost as much as the operator
        if type(value) not in SIMPLE:
            return False
    return True


def run_on_host(original: Any, func: Any, args: Any, kwargs: Any, source: Any = None) -> Any:
    """Return the result of a function of host tensors; None if it failed. They may require gradients.

    It derives from `source`, else from its first argument, which is a tensor or a list of tensors. Nothing besides the
    world observes operators.
    """
    if packs():
        return None
    guard = below()
    try:
        result = original(*args, **kwargs)
    except Exception:
        return None  # the regular path reports the failure
    finally:
        del guard
    if type(result) is not Tensor:
        return None
    if result is not args[0]:
        shorter = hooks.fast_on_created_cpu.get(hooks.on_created)
        if shorter is not None:
            if source is None:
                source = args[0] if type(args[0]) in PLAIN else args[0][0]
            shorter(result, func, source)
        else:
            hooks.on_created(result, func, args, kwargs)
    return result


def of_number(original: Any, func: Any) -> Any:
    """Return a fast version of a function of one tensor that returns a number: no tensor is created.

    That the host waits for a value on a GPU is noted, where nothing else asks for it.
    """
    compiled = native.path(native.NUMBER, original, func)
    if compiled is not None:

        def quick(self: Any) -> Any:
            return compiled(self)

        return quick

    def call(self: Any) -> Any:
        if type(self) in PLAIN and hooks.on_created in hooks.fast_on_created_cpu and alone():
            gpu = self._devfix_gpu
            if gpu >= 0 and (listening or self.requires_grad):
                return original(self)
            guard = below()
            try:
                number = original(self if gpu < 0 else self._devfix_held)
            except Exception:
                number = None  # the regular path reports the failure
            finally:
                del guard
            if number is not None:
                if gpu >= 0:
                    hooks.read(self, func)
                return number
        return original(self)

    return call


def makes(args: Any, kwargs: Any) -> bool:
    """Return whether a constructor creates a host tensor: no device is requested or set, and its source has none."""
    for name, value in kwargs.items():
        if name == "device":
            if value is not None and value != "cpu" and value != CPU:
                return False
        elif name == "generator" and type(value) is _GENERATOR:
            if randomness.owner(value) >= 0:  # C++ returns a GPU's as the host's class
                return False
        elif type(value) not in SIMPLE or name == "pin_memory":
            return False
    for value in args:
        if type(value) not in SIMPLE and not (type(value) in PLAIN and value._devfix_gpu < 0):
            return False
    return alone()


def create_on_host(original: Any, func: Any, args: Any, kwargs: Any) -> Any:
    """Return what a constructor creates on the host; None if it failed."""
    guard = below()
    try:
        result = original(*args, **kwargs)
    except Exception:
        return None  # the regular path reports the failure
    finally:
        del guard
    hooks.on_created(result, func, args, kwargs)
    return result
