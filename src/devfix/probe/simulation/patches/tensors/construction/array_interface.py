"""Objects that show memory of a GPU by `__cuda_array_interface__`: what PyTorch makes of them shares that memory."""

from __future__ import annotations

import ctypes
from typing import Any

import torch

from ....accelerators import devices
from ....tensors.tensor import wrap

_DTYPES = {
    "f2": torch.float16, "f4": torch.float32, "f8": torch.float64, "i1": torch.int8, "i2": torch.int16,
    "i4": torch.int32, "i8": torch.int64, "u1": torch.uint8, "u2": torch.uint16, "u4": torch.uint32,
    "u8": torch.uint64, "b1": torch.bool, "c8": torch.complex64, "c16": torch.complex128,
}  # fmt: skip


def read(name: str, source: Any, index: int | None, kwargs: dict[str, Any]) -> Any:
    """Return what a constructor makes of an object: on the host, unless the constructor is given a device.

    `internal_new_from_data` in torch/csrc/utils/tensor_new.cpp moves it.
    """
    shown = source.__cuda_array_interface__
    dtype = _DTYPES.get(shown["typestr"][1:])
    if dtype is None:
        raise TypeError(f"unsupported typestr {shown['typestr']}")
    shape = tuple(shown["shape"])
    size = dtype.itemsize
    strides = tuple(step // size for step in shown.get("strides") or ())
    held = torch.empty(shape, dtype=dtype) if 0 in shape else _view(shown["data"][0], shape, strides, dtype)
    tensor = wrap(held, devices.current())
    tensor._devfix_source = source  # PyTorch keeps the object alive with the memory
    place = "cpu" if index is None else devices.SHOWN[index]
    made = tensor.to(place if kwargs.get("device") is None else kwargs["device"], kwargs.get("dtype") or dtype)
    made = made.clone() if made is tensor and (name == "tensor" or kwargs.get("copy")) else made
    return made.requires_grad_() if kwargs.get("requires_grad") else made


def _view(pointer: int, shape: Any, strides: Any, dtype: torch.dtype) -> Any:
    if not strides:
        count = 1
        for extent in shape:
            count *= extent
    else:
        count = 1 + sum((extent - 1) * step for extent, step in zip(shape, strides, strict=True))
    memory = (ctypes.c_char * (count * dtype.itemsize)).from_address(pointer)
    flat = torch.frombuffer(memory, dtype=dtype, count=count)
    return flat.as_strided(shape, strides) if strides else flat.view(shape)
