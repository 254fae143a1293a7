"""Lengths of time as people type them."""

from __future__ import annotations

import re

from devfix.errors import UserError

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


def seconds(text: str, option: str) -> float:
    """Return the seconds of "90", "90s", "10m", "1.5h"; UserError for anything else.

    >>> seconds("10m", "--budget"), seconds("90", "--budget")
    (600.0, 90.0)
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(s|m|min|h|)", text.strip())
    if found is None or float(found[1]) == 0:
        raise UserError(f"{option} {text}: give a time above 0, for example 90s, 10m or 1h")
    return float(found[1]) * _UNITS[found[2]]
