"""Run plain operators of several tensors directly on their values, if nothing observes the dispatcher."""

from __future__ import annotations

from typing import Any

import torch

from ..native import loading as native
from ..operator_tables.dtypes import PRODUCTS
from ..operator_tables.operators import CHOSEN, chosen_source, source_argument
from ..tensors.tensor import Tensor
from .composite_path import PLAIN, is_composite, is_unobserved
from .cpu_fast_path import SIMPLE, are_simple, run_on_host
from .fast_path import calling, place_result

_grad = torch.is_grad_enabled
_below = torch._C._DisableTorchDispatch  # active while the object exists; a `with` statement would cost more


class _Operands:
    """The tensors of a call on one device, in place of which its values are given."""

    __slots__ = ("dense", "first", "fits", "gpu", "values")

    def __init__(self, args: Any) -> None:
        self.first: Any = None
        self.gpu: int | None = None
        self.fits = True  # else the regular path has to run
        self.dense = True
        self.values = [self._take(argument) for argument in args]

    def _take(self, argument: Any) -> Any:
        kind = type(argument)
        if kind in PLAIN:
            return self._value(argument)
        if kind is list or kind is tuple:
            values = [self._value(item) if type(item) in PLAIN else self._check_simple(item) for item in argument]
            return argument if self.first is None else values
        return self._check_simple(argument)

    def _check_simple(self, value: Any) -> Any:
        self.fits = self.fits and type(value) in SIMPLE
        return value

    def _value(self, tensor: Any) -> Any:
        gpu = tensor._devfix_gpu
        if self.gpu is None:
            self.gpu, self.first = gpu, tensor
        if gpu != self.gpu or (gpu >= 0 and _grad() and tensor.requires_grad):
            self.fits = False
        if gpu < 0:
            return tensor
        held = tensor._devfix_held
        self.dense = self.dense and held.layout is torch.strided
        return held


def of_many(original: Any, func: Any, taken: Any = None) -> Any:
    """Return a fast version of a function of tensors, lists of them and plain arguments, whose result is new.

    `taken` are the dtypes of results that CUDA supports, if not all; of sparse tensors it supports fewer.
    """
    derived_from = source_argument(func)
    whole = is_composite(original, func)
    compiled = native.path(native.MANY, original, func, taken, derived_from, whole=whole)
    if compiled is not None:
        return calling(compiled)

    def call(*args: Any, **kwargs: Any) -> Any:
        if not kwargs or are_simple(kwargs.values()):
            operands = _Operands(args)
            if operands.fits and operands.first is not None and is_unobserved(whole):
                source = args[derived_from] if 0 <= derived_from < len(args) else None
                if derived_from == CHOSEN:
                    source = chosen_source(args)
                if type(source) not in PLAIN:
                    source = operands.first
                gpu: Any = operands.gpu
                if gpu < 0:
                    result = run_on_host(original, func, args, kwargs, source)
                    return original(*args, **kwargs) if result is None else result
                if taken is not None and not operands.dense:
                    return original(*args, **kwargs)
                guard = _below()
                try:
                    result = original(*operands.values, **kwargs)
                except Exception:
                    result = None  # the regular path reports the failure
                finally:
                    del guard
                if type(result) is Tensor and (taken is None or result.dtype in taken):
                    return place_result(result, gpu, func, args, kwargs, source)
        return original(*args, **kwargs)

    return call


def of_products(original: Any, func: Any) -> Any:
    """Do the same as `of_many`, for matrix products, which CUDA supports for fewer dtypes than the CPU."""
    return of_many(original, func, PRODUCTS)


def of_detach(original: Any, func: Any) -> Any:
    """Return a fast version of `detach` where the extension is, since Python cannot share the counter of writes."""
    compiled = native.path(native.DETACH, original, func)
    if compiled is not None:
        return calling(compiled)

    def call(*args: Any, **kwargs: Any) -> Any:
        return original(*args, **kwargs)

    return call
