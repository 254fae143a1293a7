"""Read what the probe wrote: JSON from a process that is not trusted -> records."""

from devfix.trace.reader import read_all
from devfix.trace.records import Letter

__all__ = ["Letter", "read_all"]
