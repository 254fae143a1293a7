"""Prevent C++ from treating tensors as sequences: a Python `__getitem__` fills the slot that C++ checks.

`torch.Tensor([[scalar]])` calls `PySequence_Check`, which is false for a plain tensor, and would otherwise query the
length of a 0-dim one. Python cannot access the slot: it is cleared in the type's memory, whose layout has been the same
since Python 3.0 and is checked before.
"""

from __future__ import annotations

import ctypes
from typing import Any

_WORD = ctypes.sizeof(ctypes.c_void_p)
_BASIC_SIZE = object.__basicsize__ + 2 * _WORD  # behind the head, ob_size and tp_name
_SEQUENCE = _BASIC_SIZE + 9 * _WORD  # tp_as_sequence
_ITEM = 3 * _WORD  # sq_item in it
_is_sequence = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object)(("PySequence_Check", ctypes.pythonapi))


def hide(kind: type, example: Any) -> None:
    """Clear the slot of a class and its subclasses with the same indexing; `example` is an instance of the class."""
    if not _is_sequence(example) or not _lies_where_expected(kind):
        return
    for each in (kind, *_heirs(kind)):
        table = _word(id(each) + _SEQUENCE).value
        if table is not None and _lies_where_expected(each):
            _word(table + _ITEM).value = None


def _heirs(kind: type) -> list[type]:
    found: list[type] = []
    below: list[type] = kind.__subclasses__()
    for each in below:
        if "__getitem__" not in vars(each):
            found += [each, *_heirs(each)]
    return found


def _lies_where_expected(kind: type) -> bool:
    return bool(ctypes.c_ssize_t.from_address(id(kind) + _BASIC_SIZE).value == kind.__basicsize__)


def _word(address: int) -> ctypes.c_void_p:
    return ctypes.c_void_p.from_address(address)
