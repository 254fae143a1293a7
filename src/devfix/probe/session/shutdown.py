"""End a forked process as the interpreter would, without tearing down torch: that costs 0.1 s of a run's 0.14."""

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
    """Wait for threads, run exit functions, delete the program's own modules, flush, and end the process.

    `before` names the modules that existed before the program; destructors of their objects do not run. If a stream
    cannot be flushed, return `code`: the interpreter, which then ends in its own way, reports that.
    """
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    if not _flush():
        return code
    _let_go([name for name in sys.modules if name not in before or name == "__main__"])
    _flush()
    with contextlib.suppress(Exception):
        ctypes.CDLL(None).fflush(None)
    getattr(os._exit, "__wrapped__", os._exit)(code)
    raise AssertionError("not reached")


def let_go_of_destructors(is_owned: Callable[[str], bool]) -> bool:
    """Delete owned modules, and the main one, if one of their classes has a destructor.

    The interpreter does so later, when nothing can be imported any more, and a destructor that uses a GPU would fail
    then. Running threads keep their modules. Return whether any were deleted.
    """
    main = sys.modules.get("__main__")  # also under its second name in multiprocessing
    program = [
        name
        for name, module in list(sys.modules.items())
        # torch's namespaces of operators are modules with a file that does not exist
        if module is main or (type(module) is ModuleType and is_owned(str(getattr(module, "__file__", "") or "")))
    ]
    del main
    if threading.active_count() > 1 or not any(map(_has_destructor, program)):
        return False
    _let_go(program)
    return True


def _has_destructor(name: str) -> bool:
    return any(isinstance(each, type) and "__del__" in vars(each) for each in vars(sys.modules[name]).values())


def _flush() -> bool:
    """Flush stdout and stderr; return whether both succeeded."""
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None and not stream.closed:
                stream.flush()
    except Exception:
        return False
    return True


def _let_go(names: list[str]) -> None:
    """Delete modules, the last imported first, and clear those that are still referenced, `__main__` last."""
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
