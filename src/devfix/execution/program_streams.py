"""Read what a forked program writes, until its streams are closed."""

from __future__ import annotations

import os
import selectors
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from devfix.process.end_watch import LOOK
from devfix.process.output_buffer import BoundedOutput
from devfix.process.running import Cancellation, Hear


def drain(
    captures: Mapping[int, BoundedOutput],
    deadline: float,
    heard: Mapping[int, Hear] | None = None,
    cancelled: Cancellation | None = None,
) -> bool:
    """Read until all streams are closed; return False if the deadline passes first, or the run is `cancelled`."""
    with selectors.DefaultSelector() as selector:
        for stream in captures:
            selector.register(stream, selectors.EVENT_READ)
        while selector.get_map():
            left = deadline - time.monotonic()
            if left <= 0 or (cancelled is not None and cancelled.is_set()):
                return False
            for key, _ in selector.select(left if cancelled is None else min(left, LOOK)):
                data = _read(key.fd)
                if data:
                    captures[key.fd].add(data)
                    if heard and key.fd in heard:
                        heard[key.fd](key.fd, data)
                else:
                    selector.unregister(key.fd)
    return True


@contextmanager
def closing_descriptors(*descriptors: int) -> Iterator[None]:
    """Close descriptors on leaving the block."""
    try:
        yield
    finally:
        for each in descriptors:
            os.close(each)


def _read(stream: int) -> bytes:
    """Return the bytes that are there, none at the end of the stream."""
    try:
        return os.read(stream, 1 << 16)
    except ConnectionResetError:
        return b""  # a socket whose other end was closed with data that nobody had read: the server was killed
