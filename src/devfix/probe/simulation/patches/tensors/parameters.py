"""Tensors that keep their identity while their device changes: `.data =`, parameters, subclasses, deep copies."""

from __future__ import annotations

import copy
import inspect
from typing import Any

import torch

from ... import hooks
from ...accelerators import messages
from ...patching import replace, wrap
from ...tensors import side_table
from ...tensors.tensor import Tensor, device_of, set_data
from ...tensors.tensor import wrap as wrap_tensor
from . import kept_gradients, storages

_BASE: Any = torch._C.TensorBase
_C: Any = torch._C
_tracing = torch._C._get_tracing_state
_is_wrapped = torch._C._functorch.is_functorch_wrapped_tensor


def become(self: Any, value: Any) -> None:
    """Give `self` the device and values of `value`, preserving its identity, class, hooks and gradient.

    The gradient stays where it is. If `self` is one that lies elsewhere than its tensor, it stays the tensor's.
    """
    fresh = value.detach()
    fresh.requires_grad = self.requires_grad  # the method is refused in a transform
    grad, owner = self.grad, kept_gradients.owner_of(self)
    kept_gradients.exchange(self, fresh)
    if grad is not None:
        kept_gradients.keep(self, grad)
    kept_gradients.hang_hooks(self)
    if owner is not None:
        kept_gradients.keep(owner, self)


def _assign_data(self: Any, value: Any) -> None:
    if not isinstance(value, Tensor) or self._devfix_gpu == value._devfix_gpu == -1:
        try:
            if _is_wrapped(self) and isinstance(value, Tensor) and _is_wrapped(value):  # on two devices, perhaps
                raise RuntimeError("mutating directly with `.data` inside functorch transform is not allowed.")
            set_data(self, value)
        except RuntimeError as error:
            hooks.failed(error, "torch.Tensor.data", (self, value), {})
            raise
        hooks.on_data_shared(self, value)
    elif self._devfix_gpu == value._devfix_gpu:
        set_data(self, value)
        self._devfix_held = value._devfix_held
    else:
        become(self, value)
        hooks.on_data_set(self, value)


def _compatible(original: Any) -> Any:
    def has_compatible_shallow_copy_type(tensor: Any, other: Any) -> bool:
        if tensor._devfix_gpu < 0 and other._devfix_gpu < 0:
            return bool(original(tensor, other)) or (_is_wrapped(tensor) and _is_wrapped(other))
        if tensor._devfix_gpu != other._devfix_gpu and _tracing() is not None:
            return False  # a trace refers to the tensor, which cannot become another one: its module gets a new one
        one, two = (item if item._devfix_held is None else item._devfix_held for item in (tensor, other))
        return bool(original(one, two))

    return has_compatible_shallow_copy_type


def _subclass(original: Any) -> Any:
    def make_subclass(cls: Any, data: Any, require_grad: bool = False, **kwargs: Any) -> Any:
        if data._devfix_gpu < 0:
            if _is_wrapped(data) and device_of(data).type == "lazy":
                return _in_transform(cls, data, require_grad)
            return original(cls, data, require_grad, **kwargs)
        made = wrap_tensor(data._devfix_held.detach(), data._devfix_gpu)
        _require_grad(made, require_grad)  # before it has a class, whose `__torch_function__` may reject this
        if _tracing() is not None:
            _C._set_value_trace(made, _C._get_value_trace(data))
        return side_table.become(made, cls)

    return make_subclass


def _require_grad(tensor: Any, value: bool) -> None:
    """Do as `set_requires_grad` in C++, which says it in other words than the method, and is allowed in a transform."""
    if value and not (tensor.is_floating_point() or tensor.is_complex()):
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    tensor.requires_grad = value


def _in_transform(cls: Any, data: Any, require_grad: bool) -> Any:
    """Return a parameter that a transform (`torch.func.grad`) wraps: C++ would detach it without the world's mode."""
    made = data.detach()
    _require_grad(made, require_grad)
    made.__class__ = cls
    return made


def _as_subclass(original: Any) -> Any:
    def as_subclass(self: Any, cls: Any) -> Any:
        with _C.DisableTorchFunctionSubclass():  # its class may call this in its own `__torch_function__`
            if self._devfix_gpu < 0:
                plain = original(self, cls)
                hooks.on_created(plain, torch.ops.aten.alias.default, (self,), {})
                return plain
            made = torch.ops.aten.alias(self)
        return side_table.become(made, cls)

    return as_subclass


def _deepcopy(original: Any) -> Any:
    def __deepcopy__(self: Any, memo: Any) -> Any:
        # The original asks modes too: in `torch.export`, one of them makes fake tensors of what is copied.
        if torch._C._has_torch_function_unary(self) or self._devfix_gpu < 0 or not self.is_leaf:
            return original(self, memo)
        if id(self) in memo:
            return memo[id(self)]
        storages.copying.append(True)
        try:
            with torch.no_grad():
                made = wrap_tensor(copy.deepcopy(self._devfix_held, memo), self._devfix_gpu)
        finally:
            storages.copying.pop()
        made.requires_grad_(self.requires_grad)
        side_table.become(made, type(self))
        memo[id(self)] = made
        if self.grad is not None:
            made.grad = self.grad.__deepcopy__(memo)
        own = {name: value for name, value in self.__dict__.items() if not name.startswith("_devfix_")}
        made.__dict__.update(copy.deepcopy(own, memo))
        return made

    return __deepcopy__


def _swapping(original: Any) -> Any:
    def swap_tensors(t1: Any, t2: Any) -> None:
        one, two = side_table.hold(t1), side_table.hold(t2)
        try:
            original(t1, t2)
            one, two = two, one
        finally:
            side_table.exchange(t1, one)
            side_table.exchange(t2, two)

    return swap_tensors


def install() -> None:
    """Patch what changes a tensor in place below the dispatcher."""
    _ = messages
    replace(Tensor, "data", property(_BASE.data.__get__, _assign_data), add=True)
    wrap(torch, "_has_compatible_shallow_copy_type", _compatible)
    make_subclass = _subclass(Tensor._make_subclass)
    make_subclass.__signature__ = inspect.signature(lambda *args, **kwargs: None)
    replace(Tensor, "_make_subclass", staticmethod(make_subclass), add=True)
    wrap(Tensor, "as_subclass", _as_subclass)
    wrap(torch.utils, "swap_tensors", _swapping)
    wrap(Tensor, "__deepcopy__", _deepcopy)
