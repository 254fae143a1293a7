"""Call a function with a time limit: rules are other people's code, and one must not block the others."""

from __future__ import annotations

import ctypes
import sysconfig
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from devfix.errors import RuleError
from devfix.registry.rule_output import as_rule, collect_traceback
from devfix.sdk.declining import Declined

Given = TypeVar("Given")
LONGEST = 300  # characters of an exception's message
GRACE = 0.5  # seconds that a thread has to end when devfix does, and between two looks for a signal
_NAME = "devfix-rule"  # of the threads
_LIBRARIES = tuple(
    {str(Path(__file__).parents[1]), *(sysconfig.get_paths()[name] for name in ("stdlib", "purelib", "platlib"))}
)


class _Overtime(BaseException):
    """Raised inside a function that exceeds its time; `except Exception` does not catch it."""


class _Call(Generic[Given]):
    def __init__(self, function: Callable[[], Given]) -> None:
        self.function = function
        self.given: list[Given] = []
        self.error: BaseException | None = None
        # Not `Thread.join`: an exception in it, from a signal, marks the thread as ended (CPython's bpo-45274).
        self.ended = threading.Event()

    def __call__(self) -> None:
        try:
            self.given.append(self.function())
        except BaseException as error:
            self.error = error
        finally:
            self.ended.set()


def within(seconds: float, function: Callable[[], Given]) -> Given:
    """Return what a function returns, or raise what it raises. Raises RuleError if it takes too long, or exits.

    It runs in a thread, in which an exception is raised when its time is over; one that hangs in C code is abandoned.
    What it prints does not go to standard output.
    """
    call = _Call(function)
    thread = threading.Thread(target=as_rule(call), name=_NAME, daemon=True)
    try:
        thread.start()  # in which a signal may arrive, too: the thread runs before its start returns
        _wait(call.ended, seconds)
    except BaseException:  # a signal ends devfix
        _end(thread)
        call.ended.wait(GRACE)
        raise
    if not call.ended.is_set():
        _end(thread)
        raise RuleError(f"took longer than {seconds:g} s")
    if call.error is not None and not isinstance(call.error, Declined):
        collect_traceback(call.error, __file__)
    if isinstance(call.error, Exception):
        raise call.error
    if call.error is not None:
        raise RuleError(f"raised {type(call.error).__name__}: {call.error}")
    return call.given[0]


def is_running() -> bool:
    """Return whether a function still runs that was abandoned, or that a signal has interrupted."""
    return any(thread.name == _NAME for thread in threading.enumerate())


def _wait(event: threading.Event, seconds: float) -> None:
    """Wait for an event, in steps: of a signal that another thread receives, the main thread learns between them."""
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0 and not event.wait(min(left, GRACE)):
        pass


def _end(thread: threading.Thread) -> None:
    """Raise an exception in a thread, at its next step in Python."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(_Overtime))


def describe_error(error: Exception) -> str:
    """Return what a rule did, in words: "took longer than 10 s", "raised KeyError: 'x' at acme/bias_left.py:12"."""
    if isinstance(error, RuleError):
        return str(error)
    said = " ".join(str(error).split())  # LibCST's errors quote code in several lines
    return f"raised {type(error).__name__}: {said if len(said) < LONGEST else said[:LONGEST] + '…'}{_place(error)}"


def _place(error: Exception) -> str:
    """Return " at FILE:LINE" for the innermost line that is neither devfix's own nor a library's, else ""."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not frame.filename.startswith((*_LIBRARIES, "<"))]
    return f" at {own[-1].filename}:{own[-1].lineno}" if own else ""
