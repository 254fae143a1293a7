"""Plain operators on tensors of the host, past the world's mode, which would do no more than note a birth.

In a world of simulated GPUs much runs on the host all the same: loaders, masks, whole tests of a suite.
"""

from __future__ import annotations

from typing import Any

import torch

from . import hooks
from .composite_path import PLAIN, alone
from .devices import CPU
from .tensor import Tensor

SIMPLE = frozenset(
    (int, float, bool, complex, str, type(None), tuple, list, torch.Size, torch.dtype, torch.memory_format)
)
below = torch._C._DisableTorchDispatch  # in force from when it is made until it is dropped; `with` would cost more


def hosted(original: Any, func: Any, args: Any, kwargs: Any) -> Any:
    """What a function makes of tensors of the host that ask for no gradient; None where it has failed.

    Its first argument is a tensor or a list of them, and nothing but the world is `alone` with the program.
    """
    guard = below()
    try:
        result = original(*args, **kwargs)
    except Exception:
        return None  # the long way tells what failed
    finally:
        del guard
    if type(result) is not Tensor:
        return None
    source = args[0]
    if result is not source:
        shorter = hooks.on_host.get(hooks.born)
        if shorter is not None:
            shorter(result, func, source if type(source) in PLAIN else source[0])
        else:
            hooks.born(result, func, args, kwargs)
    return result


def of_number(original: Any) -> Any:
    """Make a function of one tensor that gives a number, at once for a tensor of the host: nothing is born."""

    def call(self: Any) -> Any:
        if type(self) in PLAIN and self._devfix_gpu < 0 and hooks.born in hooks.on_host and alone():
            guard = below()
            try:
                return original(self)
            except Exception:
                pass  # the long way tells what failed
            finally:
                del guard
        return original(self)

    return call


def makes(args: Any, kwargs: Any) -> bool:
    """Whether a constructor makes a tensor of the host: no device is asked for or set, and its source is no other."""
    for name, value in kwargs.items():
        if name == "device":
            if value is not None and value != "cpu" and value != CPU:
                return False
        elif type(value) not in SIMPLE or name == "pin_memory":
            return False
    for value in args:
        if type(value) not in SIMPLE and not (type(value) in PLAIN and value._devfix_gpu < 0):
            return False
    return alone()


def made(original: Any, func: Any, args: Any, kwargs: Any) -> Any:
    """What a constructor makes on the host; None where it has failed."""
    guard = below()
    try:
        result = original(*args, **kwargs)
    except Exception:
        return None  # the long way tells what failed
    finally:
        del guard
    hooks.born(result, func, args, kwargs)
    return result
