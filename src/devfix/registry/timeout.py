"""Call a function with a time limit: rules are other people's code, and one must not block the others."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from devfix.errors import RuleError

Given = TypeVar("Given")


class _Overtime(BaseException):
    """Raised inside a function that exceeds its time; `except Exception` does not catch it."""


class _Call(Generic[Given]):
    def __init__(self, function: Callable[[], Given]) -> None:
        self.function = function
        self.given: list[Given] = []
        self.error: BaseException | None = None

    def __call__(self) -> None:
        try:
            self.given.append(self.function())
        except BaseException as error:
            self.error = error


def within(seconds: float, function: Callable[[], Given]) -> Given:
    """Return what a function returns, or raise what it raises. Raises RuleError if it takes too long, or exits.

    It runs in a thread, in which an exception is raised when its time is over; one that hangs in C code is abandoned.
    """
    call = _Call(function)
    thread = threading.Thread(target=call, name="devfix-rule", daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(_Overtime))
        raise RuleError(f"took longer than {seconds:g} s")
    if isinstance(call.error, Exception):
        raise call.error
    if call.error is not None:
        raise RuleError(f"raised {type(call.error).__name__}: {call.error}")
    return call.given[0]


def raised(error: Exception) -> str:
    """Return what a rule did, in words: "took longer than 10 s", "raised KeyError: 'x'"."""
    return str(error) if isinstance(error, RuleError) else f"raised {type(error).__name__}: {error}"
