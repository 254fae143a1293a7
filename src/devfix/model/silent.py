"""The kinds of findings that a test shows without failing."""

from __future__ import annotations

from enum import Enum


class SilentKind(str, Enum):
    """A kind of finding by which nothing fails."""

    RESULT_ON_HOST = "result-on-host"  # a result of tensors on the GPU alone is on the CPU
    NOT_MOVED = "not-moved"  # a module keeps a tensor where `.to` does not see it, and uses it
    STALE_CACHE = "stale-cache"  # what was kept of a call on one device is served to a call on another
