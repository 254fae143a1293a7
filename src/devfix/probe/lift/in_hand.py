"""Find the tensors of the host in the variables of test code as it calls the code under test, and of that code."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from types import FrameType
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from ..inspection.members import is_a
from ..provenance import records
from .creations import Creation, Token
from .given import Given
from .whose import Whose, frames_of

_ITEMS = 5000


def is_result(known: Creation | None, call: FrameType, stray: torch.Tensor) -> bool:
    """Return whether an earlier call, given no tensor, has made a tensor of the host that the test has in a variable.

    Its author would have moved it before it was handed to an object of which `call` is a method. What a constructor
    has made is the object's.
    """
    is_of_numbers = known is None or (known.given == Given.NOTHING and known.call.name != "__init__")
    return is_of_numbers and _has_in_hand(call, records.creation_moment(stray))


def _has_in_hand(call: FrameType, moment: int | None) -> bool:
    """Return whether test code has a tensor of the host of that creation, alone or in lists and dicts."""
    frames = frames_of(Whose.TEST, call.f_back)  # a test calls helpers of its own
    found = (each for frame in frames for each in tree_leaves(list(frame.f_locals.values())))
    return any(_is_of(each, moment) for each in itertools.islice(found, _ITEMS))


def followed_creation(frame: FrameType, token: Token, known: Mapping[int, Creation]) -> Creation | None:
    """Return the creation of a tensor in a variable of a function, in the same call of test code if there is one.

    What the function makes with `device=x.device` is where that one is, and moves with it. None if there is none.
    """
    held = [each for each in list(frame.f_locals.values()) if is_a(each, torch.Tensor) and each.device.type == "cpu"]
    moments = map(records.creation_moment, held)
    found = [known[moment] for moment in moments if moment is not None and moment in known]
    return next((each for each in found if each.token == token), found[0] if found else None)


def _is_of(value: Any, moment: int | None) -> bool:
    is_on_host = isinstance(value, torch.Tensor) and value.device.type == "cpu"
    return is_on_host and records.creation_moment(value) == moment
