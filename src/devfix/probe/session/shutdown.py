"""Leave a warm process as the interpreter would, without taking torch apart: that costs 0.1 s of a run's 0.14."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import gc
import os
import sys
import threading
import weakref
from collections.abc import Callable
from types import ModuleType
from typing import Any


def leave(before: frozenset[str], code: int) -> int:
    """Wait for threads, run exit functions, let go of the program's own modules, flush, and end the process.

    `before` names the modules that were there before the program; destructors of what they hold do not run. Where a
    stream cannot be flushed, return `code`: the interpreter, which then ends in its own way, reports that.
    """
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    if not _flushed():
        return code
    _let_go([name for name in sys.modules if name not in before or name == "__main__"])
    _flushed()
    with contextlib.suppress(Exception):
        ctypes.CDLL(None).fflush(None)
    getattr(os._exit, "__wrapped__", os._exit)(code)
    raise AssertionError("not reached")


def let_go_of_destructors(is_owned: Callable[[str], bool]) -> bool:
    """Let go of the modules of owned files, and of the main one, where a class of theirs has a destructor.

    The interpreter does it next, when nothing can be imported any more: what a destructor does on a GPU then ends
    otherwise than on a real one. Threads that still run keep what they have. Return whether any were let go.
    """
    main = sys.modules.get("__main__")  # under a second name, too, where multiprocessing is loaded
    program = [
        name
        for name, module in list(sys.modules.items())
        # torch's own namespaces of operators are kinds of modules, with a file that lies nowhere
        if module is main or (type(module) is ModuleType and is_owned(str(getattr(module, "__file__", "") or "")))
    ]
    del main
    if threading.active_count() > 1 or not any(map(_has_destructor, program)):
        return False
    _let_go(program)
    return True


def _has_destructor(name: str) -> bool:
    return any(isinstance(each, type) and "__del__" in vars(each) for each in vars(sys.modules[name]).values())


def _flushed() -> bool:
    """Flush standard output and error; return whether both could be."""
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None and not stream.closed:
                stream.flush()
    except Exception:
        return False
    return True


def _let_go(names: list[str]) -> None:
    """Drop modules, the last imported first, and clear those that something else still holds, `__main__` the last."""
    held: list[Any] = []
    for name in reversed(names):
        module = sys.modules.pop(name)
        with contextlib.suppress(TypeError):
            held.append(weakref.ref(module))
        del module
    gc.collect()
    for reference in held:
        module = reference()
        if module is not None:
            _clear(vars(module))
        del module
    gc.collect()


def _clear(names: dict[str, Any]) -> None:
    """Set a module's names to None as the interpreter does: those with one underscore first, builtins never."""
    for name in list(names):
        if name.startswith("_") and not name.startswith("__"):
            names[name] = None
    for name in list(names):
        if name != "__builtins__":
            names[name] = None
