"""The numbers of streams: 32 for each priority and device, given out in turn, and the current ones of each thread.

As c10/cuda/CUDAStream.cpp has them, and c10/xpu/XPUStream.cpp: the 33rd stream is the first again.
"""

from __future__ import annotations

import itertools
import threading
from typing import Any

from . import kinds

IN_POOL = 32
_TYPE_BITS = 4  # kStreamTypeBits: an odd number has the type of its stream, and its place in the pool
_HIGHEST = 3  # priorities, besides the one by default
_HANDLE = 0x7F0000100000  # an address like the driver's; it only tells streams apart
TYPES = {"cuda": 1, "xpu": 12, "mps": 13}  # DeviceType in c10/core/DeviceType.h
_given: dict[tuple[int, int], Any] = {}


class _Streams(threading.local):
    def __init__(self) -> None:
        self.of: dict[int, int] = {}


_streams = _Streams()


def priorities() -> tuple[int, int]:
    """Return the lowest and the highest priority, which PyTorch uses on all newer GPUs."""
    return (0, -_HIGHEST)


def next_of(device: int, priority: int) -> int:
    """Return the number of the next stream of a device's pool; a priority outside the range counts as its nearest."""
    kind = min(max(-priority, 0), _HIGHEST)
    place: int = next(_given.setdefault((device, kind), itertools.count())) % IN_POOL
    return place << (_TYPE_BITS + 1) | (kind + 1) << 1 | 1


def priority_of(stream: int) -> int:
    """Return the priority of a stream: the default for streams that come from elsewhere."""
    return 1 - ((stream >> 1) & 0xF) if stream & 1 else 0


def handle_of(stream: int, device: int) -> int:
    """Return the driver's address of a stream, which is the number of one that comes from elsewhere."""
    return _HANDLE + (device << 16) + stream * 8 if stream & 1 else stream


def current(device: int) -> int:
    """Return the number of the current stream of a device in this thread."""
    return _streams.of.get(device, 0)


def make_current(stream: int, device: int) -> None:
    """Set the current stream of a device in this thread."""
    _streams.of[device] = stream


def type_now() -> int:
    """Return the number that C++ has for the kind of device."""
    return TYPES[kinds.now().name]
