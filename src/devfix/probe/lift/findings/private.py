"""Tensors that test code looks up by a private name of an object: no user gets them, so they are no results."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from ...inspection.members import instance_dict
from ...provenance import records
from .. import creations
from ..whose import Whose, kind_of


def is_looked_up(value: Any, creation: creations.Creation) -> bool:
    """Return whether the test code at hand names a private attribute that holds a value of the object which made it."""
    owner = None if creation.owner is None else creation.owner()
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and kind_of(frame.f_code) != Whose.TEST:
        frame = frame.f_back
    if owner is None or frame is None:
        return False
    held, moment = instance_dict(owner), records.creation_moment(value)
    names = (each for each in frame.f_code.co_names if each.startswith("_") and not each.startswith("__"))
    return any(records.creation_moment(held.get(name)) == moment for name in names)
