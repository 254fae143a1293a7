"""Run constructors directly for tensors on a simulated GPU, if nothing observes the dispatcher."""

from __future__ import annotations

from typing import Any

import torch

from .. import hooks
from ..accelerators import devices, randomness
from ..accelerators.devices import CPU
from ..accelerators.generators import Generator
from ..native import loading as native
from ..tensors.tensor import Tensor
from .composite_path import PLAIN, alone, listening, new_on
from .cpu_fast_path import SIMPLE, are_simple
from .fast_path import calling

_below = torch._C._DisableTorchDispatch  # active while the object exists; a `with` statement would cost more


_ON_HOST, _OF_NUMBERS, _DRAWING, _LIKE_A_TENSOR = 1, 2, 4, 8  # as in factories.h


def install() -> None:
    """Give the compiled constructors, if there are any, what they ask for."""
    native.configure(
        CPU=CPU, spoken=devices.index_named, owner=randomness.owner, Generator=Generator, generators=randomness.defaults
    )


def compile_path(
    original: Any, func: Any, operator: Any, rest: Any, *, draws: bool, is_short: bool, is_like: bool
) -> Any:
    """Return a compiled constructor, None where the simulation runs in Python; `rest` runs what it leaves.

    `func` makes a tensor on the host or, if `is_like`, beside another one; `operator` one on a GPU, if `is_short`.
    """
    makes = _ON_HOST * (func is not None) + _OF_NUMBERS * is_short + _DRAWING * draws + _LIKE_A_TENSOR * is_like
    path = (
        native.path(native.FACTORY, original, operator if func is None else func, None, makes, rest) if makes else None
    )
    return None if path is None else calling(path)


def made_on(original: Any, func: Any, args: Any, kwargs: Any, draws: bool) -> Any:
    """Return what a constructor of numbers creates on the GPU that it is given; None where the regular path has to."""
    given = {}
    for name, value in kwargs.items():
        if name == "generator" and draws and isinstance(value, torch.Generator):
            given[name] = value
        elif name == "device":
            continue
        elif type(value) not in SIMPLE or (value and name in ("pin_memory", "requires_grad")):
            return None
        else:
            given[name] = value
    if not are_simple(args) or not alone() or listening:
        return None
    try:
        gpu = devices.index_named(kwargs["device"])
        if gpu is None or ((generator := given.get("generator")) is not None and randomness.owner(generator) < 0):
            return None
    except Exception:
        return None  # the regular path reports the failure
    if draws and generator is None:
        given["generator"] = generator = randomness.defaults[gpu]
    if draws:
        randomness.count(generator)
    guard = _below()
    try:
        result = original(*args, **given, device=CPU)
    except Exception:
        return None
    finally:
        del guard
    made = new_on(gpu, result, func, args, kwargs)
    hooks.on_created(made, func, args, kwargs)
    return made


def made_like(original: Any, func: Any, args: Any, kwargs: Any) -> Any:
    """Return what a constructor creates beside a tensor on a GPU (`zeros_like`); None where the regular path has to."""
    if not args or type(args[0]) not in PLAIN or (gpu := args[0]._devfix_gpu) < 0:
        return None
    for name, value in kwargs.items():
        if type(value) not in SIMPLE or (value and name in ("device", "pin_memory", "requires_grad")):
            return None
    if not are_simple(args[1:]) or not alone() or listening:
        return None
    guard = _below()
    try:
        result = original(args[0]._devfix_held, *args[1:], **kwargs)
    except Exception:
        return None  # the regular path reports the failure
    finally:
        del guard
    if type(result) is not Tensor:
        return None
    made = new_on(gpu, result, func, args, kwargs)
    hooks.on_created(made, func, args, kwargs)
    return made
