"""`--branches`: on which branches the fixes of several findings come."""

from __future__ import annotations

from enum import Enum


class Branches(str, Enum):
    """One branch for all, or one for each."""

    one = "one"
    each = "each"
