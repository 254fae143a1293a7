"""Find the device failures that nobody has hit yet, by lifted tests; see docs/how-to/find.md."""

from devfix.find.find import FindOptions, find
from devfix.find.records import Cause, FindReport

__all__ = ["Cause", "FindOptions", "FindReport", "find"]
