"""Detect the use of memory of a GPU that the program has freed (`tensor.untyped_storage().resize_(0)`, as FSDP does).

The storage has no address then. CUDA's kernels fail to read it, where the CPU's would end the process. Operators are
only checked while there is such a storage.
"""

from __future__ import annotations

import weakref
from typing import Any

import torch

from .. import hooks
from ..accelerators import messages
from ..operator_tables import policy
from ..tensors.unwrapping import tensors_of
from . import composite_path, dispatch

_storage_of: Any = torch._C.TensorBase.untyped_storage
# Operators that copy (the driver refuses the address), and those that read no values of their tensors.
_COPYING = frozenset(("copy_", "_to_copy", "clone", "_local_scalar_dense"))
_NOT_READING = frozenset(
    (
        "set_", "resize_", "resize_as_", "record_stream", "is_same_size", "is_pinned", "new_empty", "new_zeros",
        "new_ones", "new_full", "new_empty_strided", "_has_same_storage_numel",
    )
)  # fmt: skip
_UNALLOCATED = (
    "The tensor has a non-zero number of elements, but its data is not allocated yet.\n"
    "If you're using torch.compile/export/fx, it is likely that we are erroneously tracing into a custom kernel."
)
_freed: Any = weakref.WeakSet()


def record_size(storage: Any) -> None:
    """Record that a storage of a simulated GPU has another size now; operators are checked while one has no bytes."""
    if storage.nbytes():
        _freed.discard(storage)
        return
    _freed.add(storage)
    if _check_operands not in composite_path.watched:
        composite_path.listening.append(_check_operands)
        composite_path.watched.append(_check_operands)
        dispatch.World.__torch_dispatch__ = _check_operands  # type: ignore[method-assign]


def reset() -> None:
    """Check no operator any more."""
    _freed.clear()
    if _check_operands in composite_path.watched:
        composite_path.listening.remove(_check_operands)
        composite_path.watched.remove(_check_operands)
        dispatch.World.__torch_dispatch__ = dispatch.chosen  # type: ignore[method-assign]


def _check_operands(self: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    if not _freed:
        reset()
    elif hasattr(func, "_schema") and _reads(func):
        used = (tensor for tensor in tensors_of(args, kwargs) if _is_freed(tensor))
        if next(used, None) is not None:
            error = _error(func)
            hooks.failed(error, func, args, kwargs or {})
            raise error
    return dispatch.chosen(self, func, types, args, kwargs)


def _is_freed(tensor: Any) -> bool:
    held = tensor._devfix_held
    return (
        held is not None and held.layout is torch.strided and held.numel() > 0 and _storage_of(held) in _freed
    )  # an empty tensor has no values that could be read


def _reads(func: Any) -> bool:
    """Return whether an operator reads or writes values of its tensors: views and factories do not."""
    name = func._schema.name.split("::")[-1]
    if name in _NOT_READING or name.endswith("_like"):
        return False
    aliases = [argument.alias_info for argument in func._schema.arguments if argument.alias_info]
    return not aliases or any(alias.is_write for alias in aliases)


def _error(func: Any) -> Exception:
    """Return CUDA's error for an operator that is given the address 0.

    `cudaMemcpyAsync` refuses it; kernels of TensorIterator ask for no more than the address (`data_ptr()`) and fail;
    the others ask for typed data, which `TensorImpl` in c10/core/TensorImpl.h refuses.
    """
    if func._schema.name.split("::")[-1] in _COPYING:
        return messages.cuda_error("invalid argument", "cudaErrorInvalidValue")
    entry = policy.entry_of(func)
    if entry is not None and entry.iterates:
        return messages.cuda_error("an illegal memory access was encountered", "cudaErrorIllegalAddress")
    return RuntimeError(_UNALLOCATED)
