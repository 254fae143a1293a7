"""Read what the probe wrote: JSON from a process that is not trusted -> records."""

from devfix.trace.reader import read_all
from devfix.trace.records import Trace

__all__ = ["Trace", "read_all"]
