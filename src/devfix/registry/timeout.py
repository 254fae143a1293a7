"""Call a function for at most so long: rules are other people's code, and one must not hold up the others."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from devfix.errors import RuleError

Given = TypeVar("Given")


class _Overtime(BaseException):
    """Raised inside a function that is over its time; no `except Exception` of its own catches it."""


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
    """What a function returns or raises. Raises RuleError where it takes longer than `seconds`, or asks to exit.

    It runs in a thread, which is told to end when its time is over; one that hangs in C code is left behind.
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
    """What a rule did, in words: "took longer than 10 s", "raised KeyError: 'x'"."""
    return str(error) if isinstance(error, RuleError) else f"raised {type(error).__name__}: {error}"
