"""Run plain operators directly on the values of simulated tensors, if nothing observes the dispatcher.

PyTorch's boxing and unboxing, its modes and its autograd cost more than most operators; without gradients and other
listeners they would have no effect. Host tensors are handled in the same way (`cpu_fast_path.py`).
"""

from __future__ import annotations

from typing import Any

import torch
from torch.autograd import forward_ad

from .. import hooks
from ..native import loading as native
from ..operator_tables.dtypes import FACTORS, PRODUCTS
from ..tensors.tensor import Tensor, wrap
from .composite_path import PLAIN, alone, is_composite, is_unobserved, listening, new_on
from .cpu_fast_path import SIMPLE, are_simple, run_on_host

_ABSENT: Any = object()
_grad = torch.is_grad_enabled
_below = torch._C._DisableTorchDispatch  # active while the object exists; a `with` statement would cost more


def install() -> None:
    """Give the compiled fast paths, if there are any, what they ask for."""
    native.configure(hooks=vars(hooks), forward_ad=vars(forward_ad), listening=listening, alone=alone, simple=SIMPLE)


def place_result(result: Any, gpu: int, func: Any, args: Any, kwargs: Any, source: Any) -> Any:
    """Return a new result on a simulated GPU, and record its creation."""
    made = new_on(gpu, result, func, args, kwargs)
    shorter = hooks.fast_on_created.get(hooks.on_created)
    if shorter is not None:
        shorter(made, func, source)
    else:
        hooks.on_created(made, func, args, kwargs)
    return made


def calling(compiled: Any) -> Any:
    """Return a function, which classes bind and which has PyTorch's names, around a compiled fast path."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return compiled(*args, **kwargs)

    return call


def of_sole(original: Any, func: Any) -> Any:
    """Do the same as `of_one`, for a function whose result is a tensor if it gets one tensor alone."""
    return of_one(original, func, 1)


def of_one(original: Any, func: Any, count: int = -1) -> Any:
    """Return a fast version of a function of one tensor and plain arguments whose result is new.

    With a `count`, only calls with so many arguments are fast.
    """
    whole = is_composite(original, func)
    compiled = native.path(native.ONE, original, func, None, count, whole=whole)
    if compiled is not None:
        return calling(compiled)

    def call(*args: Any, **kwargs: Any) -> Any:
        tensor: Any = args[0] if args and count in (-1, len(args) + len(kwargs)) else None
        if type(tensor) in PLAIN and not ((gpu := tensor._devfix_gpu) >= 0 and _grad() and tensor.requires_grad):
            rest = args[1:]
            if (not rest or are_simple(rest)) and (not kwargs or are_simple(kwargs.values())) and is_unobserved(whole):
                if gpu < 0:
                    result = run_on_host(original, func, args, kwargs)
                    return original(*args, **kwargs) if result is None else result
                guard = _below()
                try:
                    result = original(tensor._devfix_held, *rest, **kwargs)
                except Exception:
                    result = None  # the regular path reports the failure
                finally:
                    del guard
                if type(result) is Tensor:
                    return place_result(result, gpu, func, args, kwargs, tensor)
        return original(*args, **kwargs)

    return call


def of_product(original: Any, func: Any) -> Any:
    """Do the same as `of_two`, for matrix products, which CUDA supports for fewer dtypes than the CPU."""
    return of_two(original, func, PRODUCTS)


def of_factors(original: Any, func: Any) -> Any:
    """Do the same as `of_two`, for elementwise products, which CUDA does not support for float8."""
    return of_two(original, func, FACTORS)


def of_factors_sign(original: Any, func: Any) -> Any:
    """Do the same as `of_sign`, for elementwise products."""
    return of_sign(original, func, FACTORS)


def of_two(original: Any, func: Any, taken: Any = None) -> Any:
    """Return a fast version of a function of two tensors, or a tensor and a number, whose result is new."""
    sign = of_sign(original, func, taken)
    if native.extension() is not None:
        return sign  # it takes other calls too

    def call(*args: Any, **kwargs: Any) -> Any:
        return original(*args, **kwargs) if kwargs or len(args) != 2 else sign(*args)

    return call


def of_sign(original: Any, func: Any, taken: Any = None) -> Any:
    """Do the same as `of_two`, for Python's operator methods; `taken` are CUDA's dtypes, if not all, of dense ones."""

    compiled = native.path(native.SIGN, original, func, taken)
    if compiled is not None:
        return calling(compiled)

    def call(one: Any, two: Any) -> Any:
        if type(one) in PLAIN and not ((gpu := one._devfix_gpu) >= 0 and _grad() and one.requires_grad):
            kind = type(two)
            other = two
            fits = kind is float or kind is int
            if kind in PLAIN:
                fits = two._devfix_gpu == gpu and not (gpu >= 0 and _grad() and two.requires_grad)
                other = two._devfix_held
            if fits and alone():
                if gpu < 0:
                    result = run_on_host(original, func, (one, two), {})
                    return original(one, two) if result is None else result
                held = one._devfix_held
                if taken is not None and not (_is_dense(held) and _is_dense(other)):
                    return original(one, two)
                guard = _below()
                try:
                    result = original(held, other)
                except Exception:
                    result = None  # the regular path reports the failure
                finally:
                    del guard
                if type(result) is Tensor and (taken is None or result.dtype in taken):
                    return place_result(result, gpu, func, (one, two), {}, one)
        return original(one, two)

    return call


def _is_dense(value: Any) -> bool:
    return getattr(value, "layout", torch.strided) is torch.strided


def of_view(original: Any, func: Any) -> Any:
    """Return a fast version of a function of one tensor that may return a view of it, if gradients are off.

    PyTorch's bookkeeping of views is only needed for gradients; parameters keep it, since parts of them are written to
    without gradients.
    """

    compiled = native.path(native.VIEW, original, func)
    if compiled is not None:
        return calling(compiled)

    def call(tensor: Any = _ABSENT, /, *args: Any, **kwargs: Any) -> Any:
        if (
            type(tensor) is Tensor
            and ((gpu := tensor._devfix_gpu) < 0 or not (_grad() or tensor.requires_grad))
            and (not args or are_simple(args))
            and (not kwargs or are_simple(kwargs.values()))
            and alone()
        ):
            if gpu < 0:
                made = run_on_host(original, func, (tensor, *args), kwargs)
            else:
                made = run_view(original, func, gpu, tensor, args, kwargs)
            if made is not None:
                return made
        if tensor is _ABSENT:  # it is given by keyword
            return original(*args, **kwargs)
        return original(tensor, *args, **kwargs)

    return call


def run_view(original: Any, func: Any, gpu: int, tensor: Any, args: Any, kwargs: Any) -> Any:
    """Return an operator's result for one simulated tensor, perhaps the tensor itself; None if it failed."""
    held = tensor._devfix_held
    guard = _below()
    try:
        result = original(held, *args, **kwargs)
    except Exception:
        result = None  # the regular path reports the failure
    finally:
        del guard
    if type(result) is not Tensor:
        return None
    if result is held:
        return tensor
    made = wrap(result, gpu)
    made._devfix_whole = tensor if tensor._devfix_whole is None else tensor._devfix_whole
    shorter = hooks.fast_on_created.get(hooks.on_created)
    if shorter is not None:
        shorter(made, func, tensor)
    else:
        hooks.on_created(made, func, (tensor, *args), kwargs)
    return made


def of_list(original: Any, func: Any) -> Any:
    """Return a fast version of a function of a list of tensors and plain arguments whose result is new."""

    compiled = native.path(native.LIST, original, func)
    if compiled is not None:
        return calling(compiled)

    def call(*args: Any, **kwargs: Any) -> Any:
        tensors = args[0] if args else None
        if (
            type(tensors) in (tuple, list)
            and tensors
            and are_simple(args[1:])
            and are_simple(kwargs.values())
            and alone()
        ):
            gpu = tensors[0]._devfix_gpu if isinstance(tensors[0], Tensor) else -1  # a tracer's proxy has any attribute
            held = _held_by(tensors, gpu)
            if held is not None and gpu < 0:
                result = run_on_host(original, func, args, kwargs)
                return original(*args, **kwargs) if result is None else result
            if held is not None:
                guard = _below()
                try:
                    result = original(held, *args[1:], **kwargs)
                except Exception:
                    result = None  # the regular path reports the failure
                finally:
                    del guard
                if type(result) is Tensor:
                    return place_result(result, gpu, func, args, kwargs, tensors[0])
        return original(*args, **kwargs)

    return call


def _held_by(tensors: Any, gpu: int) -> list[Any] | None:
    held = []
    asks = gpu >= 0 and _grad()
    for tensor in tensors:
        if type(tensor) not in PLAIN or tensor._devfix_gpu != gpu or (asks and tensor.requires_grad):
            return None
        held.append(tensor._devfix_held)
    return held
