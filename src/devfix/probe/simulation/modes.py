"""The dispatch mode of the world, pushed in every thread that runs the user's code."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

_push = torch._C._push_on_torch_dispatch_stack
_pop = torch._C._pop_torch_dispatch_stack


class _Thread(threading.local):
    inside = False


_thread = _Thread()
world: list[Any] = []


def join_world() -> None:
    """Let the calling thread's operators run in the world; a second call in the same thread changes nothing."""
    if world and not _thread.inside:
        _thread.inside = True
        _push(world[0])


def leave_world() -> None:
    """Take the calling thread out of the world."""
    if _thread.inside:
        _thread.inside = False
        _pop(None)


@contextmanager
def entered() -> Iterator[None]:
    """Inside the dispatcher, where the mode is off: put it on again for operators run by their parts."""
    _push(world[0])
    try:
        yield
    finally:
        _pop(None)
