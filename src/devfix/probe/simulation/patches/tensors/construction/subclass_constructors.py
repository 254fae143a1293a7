"""Constructors of the user's tensor classes: C++ gives no tensor of a dispatch mode another class.

`Tag([1.0])`, of `class Tag(torch.Tensor)`, calls operators that the world's mode answers with plain tensors.
"""

from __future__ import annotations

from typing import Any

import torch

from ....patching import ANY_SIGNATURE, replace
from ....tensors.tensor import Tensor

_BASE: Any = torch._C.TensorBase
_modes = torch._C._len_torch_dispatch_stack
built_by: list[Any] = []  # what builds a plain tensor of the arguments, while the default type is one of a GPU


def _new(cls: Any, *args: Any, **kwargs: Any) -> Any:
    if cls is Tensor and built_by and not kwargs:
        return built_by[0](args)
    if cls is Tensor or not _modes():
        return _BASE.__new__(cls, *args, **kwargs)
    plain = _BASE.__new__(Tensor, *args, **kwargs)
    source = args[0] if args else kwargs.get("other", kwargs.get("data"))
    # PyTorch returns a view of a tensor, and a new tensor for anything else.
    made = Tensor.as_subclass(plain, cls) if isinstance(source, Tensor) else Tensor._make_subclass(cls, plain)
    if plain._devfix_record is not None:
        made._devfix_record = plain._devfix_record
    return made


# Dynamo compares signatures with its own replacement when it is imported.
_new.__signature__ = ANY_SIGNATURE  # type: ignore[attr-defined]


def install() -> None:
    """Patch the constructor that tensor classes inherit."""
    replace(Tensor, "__new__", staticmethod(_new), add=True)
