"""Constructors that PyTorch implements in C++ without the Python key: construct on the CPU, then move."""

from __future__ import annotations

import functools
import operator
import warnings
from contextlib import nullcontext
from typing import Any

import torch
import torch.utils._device as default_device

from .... import hooks
from ....accelerators import devices, kinds, messages
from ....dispatcher import composite_path, cpu_fast_path, waits
from ....patching import overridden, replace, undo_with, wrap
from ....tensors.tensor import Tensor, wrap_new
from . import array_interface, factories, legacy, subclass_constructors


def requested_device(device: Any) -> Any:
    """Return the device for a constructor: the requested one, else the default device if set."""
    if device is not None:
        return device
    for place in reversed(range(torch._C._len_torch_function_stack())):
        mode = torch._C._get_function_stack_at(place)
        if isinstance(mode, default_device.DeviceContext):
            return mode.device
    return None


def _index(device: Any, name: str) -> int | None:
    try:
        return devices.index_named(requested_device(device))
    except RuntimeError as error:
        hooks.failed(error, name, (), {})
        raise


SOURCES = {"tensor": "data", "as_tensor": "data", "asarray": "obj", "scalar_tensor": "s"}  # their first parameters
_MISSING = object()
_below = torch._C._DisableTorchDispatch  # active while the object exists
_READING = ("tensor", "as_tensor", "asarray")
_PLAIN = frozenset((list, tuple, int, float, bool, complex, range))  # what has no array interface
_ALIAS = torch.ops.aten.alias.default


def _moving(name: str) -> Any:
    """Let `torch.tensor`-like functions construct on the CPU and move to the GPU afterwards."""
    keyword = SOURCES[name]

    def make(original: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            source = args[0] if args else kwargs.pop(keyword, _MISSING)
            if source is _MISSING or len(args) > 1:
                return original(*args, **kwargs)  # C++ raises the error
            if name == "scalar_tensor" and (isinstance(source, (list, tuple)) or getattr(source, "shape", None)):
                return original(source, **kwargs)  # likewise
            if keyword in kwargs:
                return original(source, **kwargs)
            index = _index(kwargs.get("device"), f"torch.{name}")
            if isinstance(source, Tensor) and source._devfix_gpu >= 0:
                if name == "tensor":
                    _warn_of_copy("torch.tensor")
                return _from_simulated(original, source, index, kwargs)
            if kwargs.get("dtype") is None and (dtype := _dtype_among(source)) is not None:
                kwargs["dtype"] = dtype
            args = (_on_host(source),)
            if type(source) not in _PLAIN and hasattr(source, "__cuda_array_interface__") and name in _READING:
                return array_interface.read(name, source, index, kwargs)
            if index is not None:
                return _construct_on(original, name, args, kwargs, index)
            is_same = isinstance(source, Tensor) and name in ("as_tensor", "asarray")  # at most with another dtype
            if not is_same and cpu_fast_path.makes((), kwargs):
                made = cpu_fast_path.create_on_host(original, f"torch.{name}", args, kwargs)
                if made is not None:
                    return made
            pinned = kwargs.get("pin_memory") and kwargs.pop("pin_memory")
            made = original(*args, **kwargs)
            hooks.on_created(made, _ALIAS if is_same else f"torch.{name}", args, kwargs)
            return made.pin_memory() if pinned else made

        return call

    return make


def _construct_on(original: Any, name: str, args: Any, kwargs: dict[str, Any], index: int) -> Any:
    grad = bool(kwargs.pop("requires_grad", False))
    if kwargs.pop("pin_memory", False) and name == "scalar_tensor":
        # The others pin what they create on the host, and move it.
        raise RuntimeError("Only dense CPU tensors can be pinned")
    if kwargs.get("copy") is False:
        original(*args, copy=False)  # raises for what cannot be aliased on any device
        raise ValueError(f"can't alias tensor from device 'cpu' to '{torch.device(kwargs['device'])}'.")
    is_short = name == "tensor" and not grad and composite_path.alone()  # it gets memory of its own
    guard = _below() if is_short else None
    try:
        made = original(*args, **{**kwargs, "device": "cpu"})
    finally:
        del guard
    hooks.on_created(made, f"torch.{name}", args, kwargs)
    if is_short and type(made) is Tensor:
        placed = wrap_new(made, index)
        hooks.moved(placed, made, torch.ops.aten._to_copy.default)
        hooks.on_created(placed, f"torch.{name}", args, kwargs)
        return placed
    with torch.no_grad(), waits.Quiet() if name == "scalar_tensor" else nullcontext():  # which fills memory there
        made = made.to(devices.LAZY[index])
    hooks.on_created(made, f"torch.{name}", args, kwargs)
    return made.requires_grad_() if grad else made


def _on_host(data: Any) -> Any:
    """Return nested lists of tensors with the inner tensors in place of simulated ones."""
    return type(data)(map(_item_on_host, data)) if type(data) in (list, tuple) else data


def _item_on_host(item: Any) -> Any:
    if not isinstance(item, Tensor):
        return _on_host(item)
    # C++ takes one element as a number, and a tensor as a sequence if `Tensor.__getitem__` is patched.
    if item.numel() == 1:
        return item.item()
    return (float if item.is_floating_point() or item.is_complex() else operator.index)(item)  # raises what C++ raises


def _dtype_among(data: Any) -> torch.dtype | None:
    """Return the dtype that C++ infers from nested lists with tensors in them; None if there are none."""
    found, plain = set(), set()
    stack = [data] if type(data) in (list, tuple) else []
    while stack:
        for item in stack.pop():
            if isinstance(item, Tensor):
                found.add(item.dtype)
            elif type(item) in (list, tuple):
                stack.append(item)
            elif isinstance(item, (bool, int, float, complex)):
                plain.add(type(item))
    if not found:
        return None
    dtype: torch.dtype = functools.reduce(
        torch.promote_types, [*found, *(torch.tensor(kind(0)).dtype for kind in plain)]
    )
    return dtype


def _warn_of_copy(name: str) -> None:
    """Give the caller of a constructor, two frames above, the warning of tensor_new.cpp."""
    better = "sourceTensor.detach().clone() or sourceTensor.detach().clone().requires_grad_(True)"
    text = f"To copy construct from a tensor, it is recommended to use {better}, rather than {name}(sourceTensor)."
    warnings.warn(text, UserWarning, stacklevel=3)


def _from_simulated(original: Any, source: Any, index: int | None, kwargs: dict[str, Any]) -> Any:
    name, device = original.__name__, kwargs.get("device")
    target = source.device if device is None and name != "asarray" else device
    if device is not None and index is None:
        target = device
    elif name == "scalar_tensor":  # which reads the number
        target = devices.CPU if index is None else devices.SHOWN[index]
    if kwargs.get("copy") is False and target is not None and source.device != torch.device(target):
        raise ValueError(f"can't alias tensor from device '{source.device}' to '{target}'.")
    grad = bool(kwargs.get("requires_grad", False))
    base = source.detach() if name == "tensor" else source
    if name == "asarray" and (source.requires_grad or kwargs.get("copy") is False):
        # C++ shows by an empty tensor which dtypes it cannot alias, and whether the result needs gradients.
        like = torch.empty(0, dtype=source.dtype, requires_grad=source.requires_grad, device="cpu")
        like = original(like, **{key: value for key, value in kwargs.items() if key != "device"})
        grad, base = like.requires_grad, source if like.requires_grad == source.requires_grad else source.detach()
    copied = name == "tensor" or bool(kwargs.get("copy"))
    made = base.to(device=target, dtype=kwargs.get("dtype") or source.dtype, copy=copied)
    return made.requires_grad_() if grad and not made.requires_grad else made


def _method(original: Any) -> Any:
    """Let `x.new_tensor(data)` construct on the CPU and move to the device of `x`."""

    def new_tensor(
        self: Any, data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, **_: Any
    ) -> Any:
        if overridden(self):
            return original(self, data, dtype=dtype, device=device, requires_grad=requires_grad)
        place = self.device if device is None else device
        if isinstance(data, Tensor):
            _warn_of_copy("tensor.new_tensor")
            made = data.detach().to(place, dtype or self.dtype, copy=True)
            hooks.on_created(made, "torch.Tensor.new_tensor", (self, data), {})
            return made.requires_grad_() if requires_grad else made
        return torch.tensor(data, dtype=dtype or self.dtype, device=place, requires_grad=requires_grad)

    return new_tensor


def _inward(original: Any) -> Any:
    """Pass a constructor that C++ runs above the dispatcher the device that C++ knows."""

    def call(*args: Any, **kwargs: Any) -> Any:
        index = _index(kwargs.get("device"), f"torch.{original.__name__}")
        if index is not None:
            kwargs["device"] = devices.LAZY[index]
        return original(*args, **kwargs)

    return call


_shown = ["cpu"]  # the device of the default type, which is not printed


def _set_default_type(original: Any) -> Any:
    def set_default_tensor_type(kind: Any) -> None:
        name = kind if isinstance(kind, str) else f"{kind.__module__}.{kind.__name__}"
        plain = name.replace("torch.cuda.", "torch.")
        original(plain)
        torch.set_default_device("cuda" if plain != name else None)
        # `torch.Tensor(2)` follows the default type, but not the default device.
        subclass_constructors.built_by[:] = [_legacy] if plain != name else []
        _shown[:] = ["cuda"] if plain != name else ["cpu"]

    return set_default_tensor_type


def _legacy(args: Any) -> Any:
    return legacy.build(args, torch.get_default_dtype(), "cuda")


def install() -> None:
    """Patch the constructors."""
    _ = messages, replace
    if hasattr(default_device, "_device_constructors"):
        default_device._device_constructors()
    for name in SOURCES:
        wrap(torch, name, _moving(name))
    factories.install()
    wrap(torch, "range", _inward)
    wrap(Tensor, "new_tensor", _method)
    if kinds.now().has_legacy_types:
        wrap(torch, "set_default_tensor_type", _set_default_type)
        undo_with(subclass_constructors.built_by.clear)
        _shown[:] = ["cpu"]
        replace(torch._C, "_get_default_device", lambda: _shown[0])
