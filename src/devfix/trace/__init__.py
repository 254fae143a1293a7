"""Read the traces of the probe, which come from an untrusted process."""

from devfix.trace.reader import read_all
from devfix.trace.records import Trace

__all__ = ["Trace", "read_all"]
