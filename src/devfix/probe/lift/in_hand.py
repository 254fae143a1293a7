"""Find what test code has in hand as it calls the code under test: the tensors in its variables."""

from __future__ import annotations

import itertools
from types import FrameType
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from ..provenance import records
from .creations import Creation
from .given import Given
from .whose import Whose, kind_of

_ITEMS = 5000


def is_result(known: Creation, call: FrameType, stray: torch.Tensor) -> bool:
    """Return whether an earlier call, given no tensor, has made a tensor of the host that the test has in a variable.

    Its author would have moved it before it was handed to an object of which `call` is a method. What a constructor
    has made is the object's.
    """
    is_of_numbers = known.given == Given.NOTHING and known.call.name != "__init__"
    return is_of_numbers and _has_in_hand(call, records.creation_moment(stray))


def _has_in_hand(call: FrameType, moment: int | None) -> bool:
    """Return whether test code has a tensor of the host of that creation, alone or in lists and dicts."""
    frame = call.f_back
    while frame is not None and kind_of(frame.f_code) != Whose.TEST:
        frame = frame.f_back
    found = () if frame is None else tree_leaves(list(frame.f_locals.values()))
    return any(_is_of(each, moment) for each in itertools.islice(found, _ITEMS))


def _is_of(value: Any, moment: int | None) -> bool:
    is_on_host = isinstance(value, torch.Tensor) and value.device.type == "cpu"
    return is_on_host and records.creation_moment(value) == moment
