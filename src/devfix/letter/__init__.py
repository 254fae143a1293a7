"""Read what the probe wrote: JSON from a process that is not trusted -> records."""

from devfix.letter.reading import read_all
from devfix.letter.records import Letter

__all__ = ["Letter", "read_all"]
