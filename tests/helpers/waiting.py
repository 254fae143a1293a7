"""Wait for what happens, however long a busy machine takes: no test judges by the time on the wall."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import TypeVar

Given = TypeVar("Given")

HANGS = 1800.0  # seconds: what has not ended then hangs; a hundred times what the slowest of these tests needs


def until(happened: Callable[[], Given], every: float = 0.02) -> Given:
    """Return what a function says once that is true, asking it again and again; raise AssertionError if it never is."""
    for _ in range(int(HANGS / every)):
        if told := happened():
            return told
        time.sleep(every)
    raise AssertionError(f"{happened} was never true")


def with_enough_time(run: Callable[[float], Given], begun: Callable[[Given], bool], seconds: float) -> Given:
    """Return what `run` gives for a time limit under which it came as far as `begun` asks: twice as long each time.

    For limits that end what would never end by itself: how soon a program gets there is the machine's business.
    """
    for doubled in count():
        given = run(seconds * 2**doubled)
        if begun(given) or seconds * 2**doubled > HANGS:
            return given
    raise AssertionError


@contextmanager
def little_work(seconds: float) -> Iterator[None]:
    """Assert that this thread works for fewer seconds than that in the block; waiting for a processor is no work."""
    began = time.thread_time()
    yield
    worked = time.thread_time() - began
    assert worked < seconds, f"{worked:.1f} s of work"
