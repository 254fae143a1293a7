"""`torch.cuda.FloatTensor` and similar types, also sparse: constructors, types, and the method `new`."""

from __future__ import annotations

import warnings
from typing import Any

import torch

from .... import hooks
from ....accelerators import devices, kinds, messages
from ....patching import overridden, register_kernels, replace, wrap
from ....tensors.tensor import Tensor

DTYPES = {
    "FloatTensor": torch.float32, "DoubleTensor": torch.float64, "HalfTensor": torch.float16,
    "BFloat16Tensor": torch.bfloat16, "LongTensor": torch.int64, "IntTensor": torch.int32, "ShortTensor": torch.int16,
    "CharTensor": torch.int8, "ByteTensor": torch.uint8, "BoolTensor": torch.bool,
}  # fmt: skip

# The names without a class, which the method `type` knows too.
_ALL = {
    **DTYPES, "ComplexHalfTensor": torch.complex32, "ComplexFloatTensor": torch.complex64,
    "ComplexDoubleTensor": torch.complex128, "UInt16Tensor": torch.uint16, "UInt32Tensor": torch.uint32,
    "UInt64Tensor": torch.uint64, "Float8_e4m3fnTensor": torch.float8_e4m3fn, "Float8_e5m2Tensor": torch.float8_e5m2,
}  # fmt: skip


class LegacyType(type):
    """The metaclass of `torch.cuda.FloatTensor`: a name for tensors of one dtype on a GPU."""

    dtype: torch.dtype
    layout: torch.layout

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, Tensor) and value.is_cuda and value.dtype is cls.dtype and value.layout is cls.layout

    def __call__(cls, *args: Any, device: Any = None, **kwargs: Any) -> Any:
        """Create a tensor of the dtype on a GPU."""
        _warn_once()
        given = _positional(args, kwargs)
        place = _place("cuda" if device is None else device)
        try:
            return _create(given, cls.layout, cls.dtype, place)
        except TypeError as error:
            _report(error, f"{cls.__module__}.{cls.__name__}", given)
            raise


_warned: list[bool] = []


def _warn_once() -> None:
    """Give the caller of a legacy type, two frames above, the warning of torch/csrc/tensor/python_tensor.cpp."""
    if not _warned:
        _warned.append(True)
        better = "It's best to use methods such as torch.tensor(data, dtype=*, device='cuda') to create tensors."
        text = f"The torch.cuda.*DtypeTensor constructors are no longer recommended. {better}"
        warnings.warn(text, UserWarning, stacklevel=3)


def _place(device: Any) -> torch.device:
    """Return the device that is asked for, which must be a GPU (`check_legacy_ctor_device` in tensor_new.cpp)."""
    place, kind = torch.device(device), kinds.now().name
    if place.type != kind:
        text = f"legacy constructor expects device type: {kind} but device type: {place.type} was passed"
        raise RuntimeError(text)
    return place


def _create(args: Any, layout: torch.layout, dtype: torch.dtype, device: Any) -> Any:
    return (build if layout is torch.strided else _sparse)(args, dtype, device)


def _positional(args: Any, kwargs: dict[str, Any]) -> Any:
    """Return the arguments without keywords: sizes given by keyword are sizes even where they are no `torch.Size`."""
    return (*args, *(torch.Size(value) if name == "size" else value for name, value in kwargs.items()))


def build(args: Any, dtype: torch.dtype, device: Any) -> Any:
    """Create a tensor as the legacy constructors do: from sizes, or from data.

    An empty `torch.Size` gives a tensor of no dimensions, and no arguments give one without elements
    (`legacy_tensor_generic_ctor_new` in torch/csrc/utils/tensor_new.cpp).
    """
    given = args[0] if len(args) == 1 else args
    if isinstance(given, Tensor):
        return _alias(given, dtype, torch.device(device))
    if isinstance(given, torch.Size):
        return torch.empty(given, dtype=dtype, device=device)
    if all(isinstance(size, int) for size in args):
        return torch.empty(args or (0,), dtype=dtype, device=device)
    return torch.tensor(given, dtype=dtype, device=device)


def _alias(given: Any, dtype: torch.dtype, device: torch.device) -> Any:
    """Return an alias of a tensor of the same type: `type_equal` compares no index, so it may be on another GPU."""
    if given.device.type == device.type and given.dtype is dtype and given.layout is torch.strided:
        return torch.ops.aten.alias.default(given)
    # C++'s own message, since only C++ names dtypes and layouts so. The GPU that it expects has no index.
    expected = torch.empty(0, dtype=dtype, device="cpu")
    try:
        _new_of(expected, torch.empty(given.shape, dtype=given.dtype, layout=given.layout, device="meta"))
    except TypeError as error:
        text = str(error).replace("device=cpu", f"device={device.type}", 1)
        raise TypeError(text.replace("device=meta", f"device={given.device}", 1)) from None


def _sparse(args: Any, dtype: torch.dtype, device: Any) -> Any:
    """Create a sparse tensor of indices and values on the device of the values, or an empty one of sizes."""
    if args and isinstance(args[0], Tensor):
        is_checked = torch.sparse.check_sparse_tensor_invariants.is_enabled()  # said, so that nothing warns
        return torch.sparse_coo_tensor(*args, check_invariants=is_checked)
    sizes: Any = args[0] if len(args) == 1 and isinstance(args[0], torch.Size) else args or (0,)
    return torch.zeros(sizes, dtype=dtype, device=device).to_sparse()


def _report(error: TypeError, name: str, args: Any) -> None:
    """Report the refusal of a tensor on another device, with the device's name as the user knows it."""
    error.args = (messages.outward(str(error)),)
    hooks.failed(error, name, args, {})


_new_of: Any = None


def _new(original: Any) -> Any:
    global _new_of
    _new_of = original

    def new(self: Any, *args: Any, device: Any = None, **kwargs: Any) -> Any:
        asked = {} if device is None else {"device": device}
        if overridden(self):
            return original(self, *args, **asked, **kwargs)
        given = _positional(args, kwargs)
        try:
            if self._devfix_gpu < 0:
                return original(self, *args, **asked, **kwargs)
            return _create(given, self.layout, self.dtype, _place(device) if asked else self.device)
        except TypeError as error:
            _report(error, "torch.Tensor.new", (self, *given))
            raise

    return new


def _kind_on_host(dtype: torch.dtype) -> Any:
    original = getattr(torch, next(name for name, kind in DTYPES.items() if kind is dtype))

    def check(value: Any) -> bool:
        return isinstance(value, original) and value._devfix_gpu < 0

    return check


_name_of: Any = None


def _type(original: Any) -> Any:
    global _name_of
    _name_of = original

    def type_(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = (original if overridden(self) else _convert_type)(self, *args, **kwargs)
        return messages.outward(result) if type(result) is str else result  # of a subclass of the program's

    return type_


def _convert_type(self: Any, dtype: Any = None, non_blocking: bool = False, **kwargs: Any) -> Any:
    if dtype is None:
        if self._devfix_held is None:
            return _name_of(self)
        try:
            return _name_of(self._devfix_held).replace("torch.", f"{kinds.now().module}.", 1)
        except RuntimeError as error:  # compressed layouts have no name
            error.args = (str(error).replace("CPU", kinds.now().key),)
            raise
    if isinstance(dtype, torch.dtype):
        return self.to(dtype, non_blocking=non_blocking)
    name = dtype if isinstance(dtype, str) else f"{dtype.__module__}.{dtype.__name__}"
    module, _, base = name.rpartition(".")
    is_cuda = name.startswith("torch.cuda.") and kinds.now().has_legacy_types
    if base not in _ALL or module not in ("torch", "torch.sparse", "torch.cuda", "torch.cuda.sparse"):
        if is_cuda:
            raise ValueError(f"invalid type: {name!r}")  # `options_from_string` in torch/csrc/utils/tensor_types.cpp
        return _name_of(self, dtype, non_blocking, **kwargs)
    # The layout in the name plays no part: `THPVariable_type` only converts device and dtype.
    device: Any = devices.CPU
    if is_cuda:
        device = self.device if self._devfix_gpu >= 0 else "cuda"
    return self.to(device, _ALL[base], non_blocking=non_blocking)


def _element(tensor: Any) -> Any:
    """Read the only element of a tensor where C++ does so below the world: in a list that it converts to a tensor."""
    hooks.read(tensor, "torch.Tensor.item")
    return tensor._devfix_held.item()


def install() -> None:
    """Patch the legacy names."""
    register_kernels({"_local_scalar_dense": _element}, "Lazy")
    wrap(Tensor, "type", _type)
    # `all_declared_types` in torch/csrc/utils/tensor_types.cpp gives no kind but CUDA such names.
    owners = ((torch.cuda, torch.strided), (torch.cuda.sparse, torch.sparse_coo))
    for module, layout in owners if kinds.now().has_legacy_types else ():
        for name, dtype in DTYPES.items():
            if module is torch.cuda or hasattr(module, name):
                body = {"dtype": dtype, "layout": layout, "__module__": module.__name__, "is_cuda": True}
                body |= {"is_sparse": layout is torch.sparse_coo, "is_xpu": False}
                replace(module, name, LegacyType(name, (), body), add=True)
    wrap(Tensor, "new", _new)
