"""DLPack: capsules of simulated tensors say that their memory is on a GPU.

C++ exports and imports the values; the device is written into the capsule's struct here. A library that only reads
host memory refuses such a capsule by itself, as it refuses CUDA's.
"""

from __future__ import annotations

import ctypes
from typing import Any

import torch
import torch.utils.dlpack

from ... import hooks
from ...accelerators import devices, kinds
from ...patching import wrap
from ...tensors.tensor import Tensor
from ...tensors.tensor import wrap as wrap_tensor

_WORD = ctypes.sizeof(ctypes.c_void_p)
# Where the device is in DLManagedTensor and in DLManagedTensorVersioned of ATen/dlpack.h: behind the pointer to the
# data, with which the former begins; in the latter a version, two pointers and the flags come first.
_OFFSETS = {b"dltensor": _WORD, b"dltensor_versioned": 16 + 3 * _WORD}
_HOST = 1  # kDLCPU
_TYPES = {"cuda": 2, "mps": 8, "xpu": 14}  # kDLCUDA, kDLMetal, kDLOneAPI
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


class _Device(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int32), ("index", ctypes.c_int32))


def _device(capsule: Any) -> Any:
    """Return the device in a capsule, as part of its memory; None for what is no capsule, or one used already."""
    for name, offset in _OFFSETS.items():
        if _is_valid(capsule, name):
            return _Device.from_address(_pointer(capsule, name) + offset)
    return None


def _packing(original: Any) -> Any:
    def to_dlpack(tensor: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(tensor, Tensor):
            return original(tensor, *args, **kwargs)
        placed = _place(tensor, kwargs.pop("dl_device", None), kwargs.pop("copy", None))
        if placed._devfix_gpu < 0:
            return original(placed, *args, **kwargs)
        capsule = original(placed._devfix_held, *args, **kwargs)
        device = _device(capsule)
        device.type, device.index = _TYPES[kinds.now().name], placed._devfix_gpu
        return capsule

    return to_dlpack


def _place(tensor: Any, device: Any, copy: bool | None) -> Any:
    """Return a tensor where the consumer asks for it (`maybeCopyTensor` in torch/csrc/utils of DLConvertor.cpp)."""
    if device is not None:
        kind, index = device
        name = next((name for name, number in _TYPES.items() if number == kind), "cpu")
        target = torch.device(name, index) if name != "cpu" else devices.CPU
        if target != tensor.device:
            if copy is False:
                text = f"cannot move (i.e. copy=False) tensor from {tensor.device} to {target} without copying."
                raise ValueError(text)
            return tensor.to(target)
    return tensor.clone() if copy else tensor


def _unpacking(original: Any) -> Any:
    def from_dlpack(capsule: Any) -> Any:
        device = _device(capsule)
        if device is None or device.type != _TYPES[kinds.now().name]:
            return original(capsule)
        gpu = devices.check_index(device.index)
        device.type, device.index = _HOST, 0
        made = wrap_tensor(original(capsule), gpu)
        hooks.on_created(made, "torch.from_dlpack", (), {})
        return made

    return from_dlpack


def install() -> None:
    """Patch the conversions, under the names of all releases."""
    for owner in (torch._C, torch, torch.utils.dlpack):
        for name in ("to_dlpack", "_to_dlpack", "_to_dlpack_versioned"):
            wrap(owner, name, _packing)
        wrap(owner, "_from_dlpack", _unpacking)
