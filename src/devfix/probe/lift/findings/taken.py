"""Results that the code under test takes to the host by name, and with which an operator of test code fails on a GPU.

To take a result there is a choice that a caller may want; one who puts it together with what he has on a GPU does not.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from types import CodeType
from typing import Any

import torch

from ...provenance import records
from .. import creations, words
from ..creation_places import made_at
from ..whose import Whose, kind_of

Place = tuple[str, int, str]


def find_taken(value: Any) -> tuple[Place, creations.Call] | None:
    """Return where the code under test has taken a tensor to the host, and the function that test code has called.

    None where it was test code, where a docstring says that the result is on the host, and for a number.
    """
    if not isinstance(value, torch.Tensor) or value.device.type != "cpu" or value.dim() == 0:
        return None
    history = records.of(value)
    move = None if history is None else history[records.MOVE]
    if move is None or str(move[records.DEVICE]) != "cpu":
        return None
    place = made_at(move[records.STACK])
    if place is None:
        return None
    codes = list(_codes(move[records.STACK]))
    if any(map(words.is_documented, codes)):
        return None
    call = codes[-1]
    return place, creations.Call(call.co_name, os.path.realpath(call.co_filename), call.co_firstlineno)


def _codes(stack: Any) -> Iterator[CodeType]:
    """Yield the functions of the code under test that ran for the innermost test code."""
    for at in range(0, len(stack), 2):
        kind = kind_of(stack[at])
        if kind == Whose.TEST:
            return
        if kind == Whose.CODE:
            yield stack[at]
