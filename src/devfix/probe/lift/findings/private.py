"""Tensors that test code looks up by a private name of an object: no user gets them, so they are no results."""

from __future__ import annotations

import sys
from typing import Any

from ...inspection.members import instance_dict
from ...provenance import records
from .. import creations
from ..whose import Whose, frames_of


def is_looked_up(value: Any, creation: creations.Creation) -> bool:
    """Return whether the test code at hand names a private attribute that holds a value of the object which made it.

    What a test has looked up it may read in a function of its own, such as a generator in `all`.
    """
    owner = None if creation.owner is None else creation.owner()
    if owner is None:
        return False
    held, moment = instance_dict(owner), records.creation_moment(value)
    names = (each for frame in frames_of(Whose.TEST, sys._getframe(1)) for each in frame.f_code.co_names)
    names = (each for each in names if each.startswith("_") and not each.startswith("__"))
    return any(records.creation_moment(held.get(name)) == moment for name in names)
