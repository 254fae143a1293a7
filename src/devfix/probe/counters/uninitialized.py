"""Clear the memory that `torch.empty` returns, so that what a program computes from it is the same in each run.

Uninitialized memory has what was there before, which an operator more or less in the program changes. A sum over the
result of `torch_geometric`'s `index_put_` into such a table told a right patch to compute something else.
"""

from __future__ import annotations

import ctypes
from typing import Any

import torch

from ..simulation.operator_tables import operators

_MAKERS = frozenset({"empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided"})
_MOST = 1 << 26  # bytes; the pages of larger memory, which are zero at first, are not touched
_is_maker: dict[int, bool] = {}
_kept: list[Any] = []  # keeps operators alive, so that their ids are not reused


def clear(result: Any, func: Any) -> None:
    """Set the memory of a new tensor on the host to zero, if `func` has left it as it was."""
    is_maker = _is_maker.get(id(func))
    if is_maker is None:
        is_maker = _learn(func)
    if not is_maker or type(result) is not torch.Tensor or result._devfix_gpu >= 0:  # type: ignore[attr-defined]
        return
    try:
        if result.device.type == "cpu" and result.layout is torch.strided:
            storage = result.untyped_storage()
            if 0 < storage.nbytes() <= _MOST:
                ctypes.memset(storage.data_ptr(), 0, storage.nbytes())
    except Exception:  # a kind of tensor without accessible values
        return


def _learn(func: Any) -> bool:
    is_maker = type(func) is not str and operators.base_name(func) in _MAKERS and not _writes_to_argument(func)
    if type(func) is not str:
        _kept.append(func)
        _is_maker[id(func)] = is_maker
    return is_maker


def _writes_to_argument(func: Any) -> bool:
    """Return whether an operator resizes what it is given as `out`, which may be a view of more."""
    return any(each.is_out for each in func._schema.arguments)
