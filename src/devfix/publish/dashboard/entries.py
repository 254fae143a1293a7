"""The entries of the dashboard, one for each failure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class EntryState(str, Enum):
    """The state of the fix of a failure."""

    open = "open"
    left = "left"
    ignored = "ignored"


@dataclass(frozen=True)
class Entry:
    """The fix of a failure: `key` identifies the failure, `program` what was run and `source` what publishes it.

    `number` is its pull request, 0 if it has none; `reason` says why nothing was done, if so.
    """

    key: str
    title: str
    program: str
    source: str = ""
    number: int = 0
    state: EntryState = EntryState.open
    reason: str = ""
