"""The calls of the code under test that a test makes, heard as they begin by a trace function; none is replaced."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

Listener = Callable[[FrameType], object]
listeners: list[Listener] = []  # each gets a frame before the first line of its function has run


@contextmanager
def heard() -> Iterator[None]:
    """Tell the listeners of the calls that begin, unless there are none, or somebody else traces the test."""
    if not listeners or sys.gettrace() is not None:
        yield
        return
    sys.settrace(_begin)
    try:
        yield
    finally:
        if sys.gettrace() is _begin:
            sys.settrace(None)


def _begin(frame: FrameType, event: str, argument: Any) -> None:
    for listener in listeners:
        listener(frame)
