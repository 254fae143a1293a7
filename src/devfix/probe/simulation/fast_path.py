"""Plain operators run at once, on what simulated tensors hold, where nobody could see the way through the dispatcher.

PyTorch's boxing and unboxing, its modes and its autograd cost more than most operators do; where no gradient is asked
for, and nothing but the world listens, they would do nothing else. Tensors of the host go the same way (`on_host.py`).
"""

from __future__ import annotations

from typing import Any

import torch

from . import hooks
from .composite_path import PLAIN, alone
from .cpu_fast_path import SIMPLE, hosted
from .dtypes import PRODUCTS
from .tensor import Tensor, wrap, wrap_new

_grad = torch.is_grad_enabled
_below = torch._C._DisableTorchDispatch  # in force from when it is made until it is dropped; `with` would cost more


def placed(result: Any, gpu: int, func: Any, args: Any, kwargs: Any, source: Any) -> Any:
    """A new result on a simulated GPU, its birth told."""
    made = wrap_new(result, gpu)
    shorter = hooks.shorter.get(hooks.born)
    if shorter is not None:
        shorter(made, func, source)
    else:
        hooks.born(made, func, args, kwargs)
    return made


def of_one(original: Any, func: Any) -> Any:
    """Make a function of one tensor and plain arguments whose result is new, direct where that is possible."""

    def call(*args: Any, **kwargs: Any) -> Any:
        tensor: Any = args[0] if args else None
        if type(tensor) in PLAIN and not (_grad() and tensor.requires_grad):
            rest = args[1:]
            if (not rest or _simple(rest)) and (not kwargs or _simple(kwargs.values())) and alone():
                gpu = tensor._devfix_gpu
                if gpu < 0:
                    result = hosted(original, func, args, kwargs)
                    return original(*args, **kwargs) if result is None else result
                guard = _below()
                try:
                    result = original(tensor._devfix_held, *rest, **kwargs)
                except Exception:
                    result = None  # the long way tells what failed
                finally:
                    del guard
                if type(result) is Tensor:
                    return placed(result, gpu, func, args, kwargs, tensor)
        return original(*args, **kwargs)

    return call


def _simple(values: Any) -> bool:
    for value in values:  # noqa: SIM110 - a generator would cost as much as the operator
        if type(value) not in SIMPLE:
            return False
    return True


def of_product(original: Any, func: Any) -> Any:
    """As `of_two`, for products of matrices, which CUDA makes of fewer dtypes than the CPU."""
    return of_two(original, func, PRODUCTS)


def of_two(original: Any, func: Any, taken: Any = None) -> Any:
    """Make a function of two tensors, or a tensor and a number, whose result is new, direct where that is possible."""
    sign = of_sign(original, func, taken)

    def call(*args: Any, **kwargs: Any) -> Any:
        return original(*args, **kwargs) if kwargs or len(args) != 2 else sign(*args)

    return call


def of_sign(original: Any, func: Any, taken: Any = None) -> Any:
    """As `of_two`, for the methods of Python's operators; `taken` are the dtypes that CUDA makes, where not all."""

    def call(one: Any, two: Any) -> Any:
        if type(one) in PLAIN and not (_grad() and one.requires_grad):
            gpu = one._devfix_gpu
            kind = type(two)
            other = two
            fits = kind is float or kind is int
            if kind in PLAIN:
                fits = two._devfix_gpu == gpu and not (_grad() and two.requires_grad)
                other = two._devfix_held
            if fits and alone():
                if gpu < 0:
                    result = hosted(original, func, (one, two), {})
                    return original(one, two) if result is None else result
                guard = _below()
                try:
                    result = original(one._devfix_held, other)
                except Exception:
                    result = None  # the long way tells what failed
                finally:
                    del guard
                if type(result) is Tensor and (taken is None or result.dtype in taken):
                    return placed(result, gpu, func, (one, two), {}, one)
        return original(one, two)

    return call


def of_view(original: Any, func: Any) -> Any:
    """Make a function of one tensor that may give a view of it, direct where gradients are off.

    PyTorch's bookkeeping of views serves gradients alone; parameters keep it, whose parts are written to without them.
    """

    def call(tensor: Any, *args: Any, **kwargs: Any) -> Any:
        if (
            type(tensor) is Tensor
            and ((gpu := tensor._devfix_gpu) < 0 or not _grad())
            and not tensor.requires_grad
            and (not args or _simple(args))
            and (not kwargs or _simple(kwargs.values()))
            and alone()
        ):
            if gpu < 0:
                made = hosted(original, func, (tensor, *args), kwargs)
            else:
                made = viewed(original, func, gpu, tensor, args, kwargs)
            if made is not None:
                return made
        return original(tensor, *args, **kwargs)

    return call


def viewed(original: Any, func: Any, gpu: int, tensor: Any, args: Any, kwargs: Any) -> Any:
    """What an operator makes of one simulated tensor, perhaps the tensor itself; None where it has failed."""
    held = tensor._devfix_held
    guard = _below()
    try:
        result = original(held, *args, **kwargs)
    except Exception:
        result = None  # the long way tells what failed
    finally:
        del guard
    if type(result) is not Tensor:
        return None
    if result is held:
        return tensor
    made = wrap(result, gpu)
    made._devfix_whole = tensor if tensor._devfix_whole is None else tensor._devfix_whole
    shorter = hooks.shorter.get(hooks.born)
    if shorter is not None:
        shorter(made, func, tensor)
    else:
        hooks.born(made, func, (tensor, *args), kwargs)
    return made


def of_list(original: Any, func: Any) -> Any:
    """Make a function of a list of tensors and plain arguments whose result is new, direct where that is possible."""

    def call(*args: Any, **kwargs: Any) -> Any:
        tensors = args[0] if args else None
        if type(tensors) in (tuple, list) and tensors and _simple(args[1:]) and _simple(kwargs.values()) and alone():
            gpu = tensors[0]._devfix_gpu if isinstance(tensors[0], Tensor) else -1  # a tracer's proxy has any attribute
            held = _held_by(tensors, gpu)
            if held is not None and gpu < 0:
                result = hosted(original, func, args, kwargs)
                return original(*args, **kwargs) if result is None else result
            if held is not None:
                guard = _below()
                try:
                    result = original(held, *args[1:], **kwargs)
                except Exception:
                    result = None  # the long way tells what failed
                finally:
                    del guard
                if type(result) is Tensor:
                    return placed(result, gpu, func, args, kwargs, tensors[0])
        return original(*args, **kwargs)

    return call


def _held_by(tensors: Any, gpu: int) -> list[Any] | None:
    held = []
    asks = _grad()
    for tensor in tensors:
        if type(tensor) not in PLAIN or tensor._devfix_gpu != gpu or (asks and tensor.requires_grad):
            return None
        held.append(tensor._devfix_held)
    return held
