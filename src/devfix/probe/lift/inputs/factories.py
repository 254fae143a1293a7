"""Tensors that test code makes without a device: they are made on the GPU."""

from __future__ import annotations

import inspect
import sys
from types import FrameType
from typing import Any

import torch
from torch.compiler import is_compiling

from ...provenance import tracking
from ...simulation.patching import ANY_SIGNATURE, replace, wrap
from .. import boundaries, consequences, devices
from ..whose import Whose, asks
from . import generators, left_out_devices

_NEW = (
    "zeros", "ones", "full", "empty", "arange", "range", "linspace", "logspace", "eye", "rand", "randn", "randint",
    "randperm", "empty_strided", "empty_permuted", "tril_indices", "triu_indices", "hann_window", "hamming_window",
    "blackman_window", "kaiser_window", "bartlett_window", "tensor", "scalar_tensor", "asarray", "as_tensor",
)  # fmt: skip
_SPARSE = (
    "sparse_coo_tensor",
    "sparse_csr_tensor",
    "sparse_csc_tensor",
    "sparse_bsr_tensor",
    "sparse_compressed_tensor",
)
_READ = ("from_numpy", "frombuffer", "from_file", "load", "normal", "from_dlpack")
_RANDOM = ("uniform_", "normal_", "random_", "bernoulli_", "exponential_", "cauchy_", "geometric_", "log_normal_")
_COMPOSED = ("one_hot", "pad_sequence")  # they fill a tensor of zeros, which no operator derives from their input
_FREQUENCIES = ("fftfreq", "rfftfreq")
_LEGACY = ("Float", "Double", "Half", "BFloat16", "Long", "Int", "Short", "Char", "Byte", "Bool")


def _make_on_gpu(original: Any) -> Any:
    """Let a factory make what test code asks for on the device, where it names none."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if is_compiling():
            return original(*args, **kwargs)
        whose = asks(1)
        if whose == Whose.CODE:
            if left_out_devices.is_handed_on(sys._getframe(1), kwargs) and not devices.has_own_default():
                return original(*args, **{**kwargs, "device": devices.target()})
            made = original(*args, **kwargs)
            if not (args and isinstance(args[0], torch.Tensor)):  # that one was created elsewhere
                boundaries.note(made, sys._getframe(1), kwargs.get("device"))
                consequences.note(made, kwargs.get("device"))
            return made
        is_free = kwargs.get("device") is None and kwargs.get("out") is None
        if whose == Whose.TEST and kwargs.get("device") is not None:
            devices.note_choice()
        if whose != Whose.TEST or not is_free or devices.has_own_default():
            return original(*args, **kwargs)
        generator = kwargs.get("generator")
        if generator is not None or kwargs.get("pin_memory"):
            kwargs.pop("pin_memory", None)
            return generators.draw_on_host(original, args, kwargs, generator)
        kwargs["device"] = devices.target()
        return original(*args, **kwargs)

    return call


def _read(original: Any) -> Any:
    """Move what a function makes of data that are no tensors."""

    def call(*args: Any, **kwargs: Any) -> Any:
        made = original(*args, **kwargs)
        whose = asks(1)
        if whose == Whose.CODE:
            boundaries.note(made, sys._getframe(1))
        told = any(kwargs.get(name) is not None for name in ("device", "map_location", "out"))
        told = told or devices.has_own_default() or (original.__name__ == "load" and len(args) > 1)
        if told or whose != Whose.TEST:
            return made
        return made.to(devices.target()) if isinstance(made, torch.nn.Module) else devices.lift(made)

    return call


def _lift_or_note(made: Any, whose: Whose, frame: FrameType) -> Any:
    """Return what a constructor has made without a device: on the GPU for test code, noted for the code under test."""
    if whose == Whose.CODE:
        boundaries.note(made, frame)
    return devices.lift(made) if whose == Whose.TEST and not devices.has_own_default() else made


def _legacy(original: Any, dtype: torch.dtype, name: str) -> Any:
    class LegacyKind(type):
        """A name for tensors of one dtype, as `torch.FloatTensor` is."""

        def __instancecheck__(cls, value: object) -> bool:
            if isinstance(value, original):
                return True
            is_made = isinstance(value, torch.Tensor) and value.dtype is dtype and value.device == devices.target()
            return is_made and asks(1) == Whose.TEST  # which has asked for this type; for others it is one of the host

        def __call__(cls, *args: Any, **kwargs: Any) -> Any:
            made = original(*args, **kwargs)
            return _lift_or_note(made, asks(1), sys._getframe(1))

        def __eq__(cls, other: object) -> bool:
            return other is cls or other is original

        def __hash__(cls) -> int:
            return hash(original)

    body = {"dtype": dtype, "layout": torch.strided, "is_cuda": False, "is_sparse": False, "__module__": "torch"}
    return LegacyKind(name, (), {**body, "_devfix_original": original})


def _type(original: Any) -> Any:
    """Let `x.type(torch.LongTensor)` mean what it means: the host."""

    def type_(self: Any, dtype: Any = None, *args: Any, **kwargs: Any) -> Any:
        if dtype is None:
            return original(self, *args, **kwargs)
        if isinstance(dtype, type) and hasattr(dtype, "_devfix_original"):
            dtype = f"torch.{dtype.__name__}"
        return original(self, dtype, *args, **kwargs)

    return type_


def _set_default_type(original: Any) -> Any:
    """Let a type that test code names be the one of PyTorch, which alone can be the default."""

    def set_default_tensor_type(kind: Any) -> None:
        original(f"torch.{kind.__name__}" if hasattr(kind, "_devfix_original") else kind)

    return set_default_tensor_type


def _import_type(original: Any) -> Any:
    """Find PyTorch's own type by its name: `set_default_tensor_type("torch.DoubleTensor")` looks it up."""

    def _import_dotted_name(name: str) -> Any:
        found = original(name)
        return getattr(found, "_devfix_original", found)

    return _import_dotted_name


def _redraw(original: Any) -> Any:
    """Note what a method fills with random numbers, which counts as its creation."""

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        made = original(self, *args, **kwargs)
        if not is_compiling() and asks(1) == Whose.CODE:
            boundaries.note(made, sys._getframe(1))
        return made

    return call


def _derive(original: Any) -> Any:
    """Let what a function puts into a tensor that it makes itself count as created where its first input was."""

    def call(given: Any, *args: Any, **kwargs: Any) -> Any:
        made = original(given, *args, **kwargs)
        source = given[0] if isinstance(given, (list, tuple)) and given else given
        is_on_host = isinstance(made, torch.Tensor) and made.device.type == "cpu"
        if is_on_host and isinstance(source, torch.Tensor) and not is_compiling():
            tracking.adopt(made, source, original.__name__)
        return made

    return call


def _constructor(original: Any) -> Any:
    def new(cls: Any, *args: Any, **kwargs: Any) -> Any:
        made = original(cls, *args, **kwargs)
        if cls is torch.Tensor and "device" not in kwargs:
            return _lift_or_note(made, asks(1), sys._getframe(1))
        return made

    new.__signature__ = ANY_SIGNATURE  # type: ignore[attr-defined]
    return staticmethod(new)


def install() -> None:
    """Patch the factories; undone when the world is left."""
    for name in (*_NEW, *_SPARSE):
        wrap(torch, name, _make_on_gpu)
    for name in _READ:
        wrap(torch, name, _read)
    for name in _RANDOM:
        wrap(torch.Tensor, name, _redraw)
    for name in _COMPOSED:
        wrap(torch._C._nn, name, _derive)
    replace(torch.nn.functional, "one_hot", torch._C._nn.one_hot)
    for name in _FREQUENCIES:
        wrap(torch.fft, name, _make_on_gpu)
    for name, function in inspect.getmembers(torch.signal.windows, inspect.isfunction):
        if "device" in inspect.signature(function).parameters:
            wrap(torch.signal.windows, name, _make_on_gpu)
    for kind in _LEGACY:
        name = f"{kind}Tensor"
        original = getattr(torch, name)
        replace(torch, name, _legacy(original, original.dtype, name))
    wrap(torch.Tensor, "type", _type)
    wrap(torch, "set_default_tensor_type", _set_default_type)
    wrap(torch, "_import_dotted_name", _import_type)
    replace(torch.Tensor, "__new__", _constructor(torch.Tensor.__new__), add=True)
