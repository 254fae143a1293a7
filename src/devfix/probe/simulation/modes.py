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
    """Enable the world's mode in the calling thread; repeated calls have no effect."""
    if world and not _thread.inside:
        _thread.inside = True
        _push(world[0])


def leave_world() -> None:
    """Disable the world's mode in the calling thread."""
    if _thread.inside:
        _thread.inside = False
        _pop(None)


@contextmanager
def enter_mode() -> Iterator[None]:
    """Enable the mode again inside the dispatcher, where it is off, for operators run by their parts."""
    _push(world[0])
    try:
        yield
    finally:
        _pop(None)
