"""Tensors that test code looks up by a private name of an object: no user gets them, so they are no results."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

from ...inspection.members import instance_dict
from ...provenance import records
from .. import creations
from ..whose import Whose, kind_of


def is_looked_up(value: Any, creation: creations.Creation) -> bool:
    """Return whether the test code at hand names a private attribute that holds a value of the object which made it.

    What a test has looked up it may read in a function of its own, such as a generator in `all`.
    """
    owner = None if creation.owner is None else creation.owner()
    if owner is None:
        return False
    held, moment = instance_dict(owner), records.creation_moment(value)
    names = (each for each in _names(sys._getframe(1)) if each.startswith("_") and not each.startswith("__"))
    return any(records.creation_moment(held.get(name)) == moment for name in names)


def _names(frame: FrameType | None) -> Iterator[str]:
    """Yield the names in the functions of test code that run in a frame and its callers."""
    while frame is not None:
        if kind_of(frame.f_code) == Whose.TEST:
            yield from frame.f_code.co_names
        frame = frame.f_back
