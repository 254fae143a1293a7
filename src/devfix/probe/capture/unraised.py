"""Record failures that end nothing: in destructors, exit functions and callbacks, and in futures never awaited."""

from __future__ import annotations

import functools
import sys
from concurrent.futures import _base
from typing import Any

from ..simulation import patching
from . import failure
from .failure_recorder import FailureRecorder
from .trace_writer import TraceWriter

_MOST = 16  # failures of futures that are recorded


# The device failures of futures, each with whether its result was requested.
_entries: list[list[Any]] = []


def install(trace: TraceWriter, endings: FailureRecorder) -> None:
    """Listen to exceptions that the interpreter reports and ignores, and to futures."""
    previous = sys.unraisablehook

    def unraisable(hook_args: Any) -> None:
        if hook_args.exc_value is not None and endings.find(hook_args.exc_value) is not None:
            endings.uncaught(hook_args.exc_value, "thread")
            trace.write()  # the exit functions, including the probe's, may have run already
            failure.strip(hook_args.exc_value)
        previous(hook_args)

    patching.replace(sys, "unraisablehook", unraisable, shared=True)
    _watch_futures(endings)


def report_unasked(endings: FailureRecorder) -> None:
    """Record the failures of futures whose result was never requested."""
    for exception, is_asked in _entries:
        if not is_asked:
            endings.uncaught(exception, "thread")


def _watch_futures(endings: FailureRecorder) -> None:
    original = _base.Future.set_exception

    @functools.wraps(original)
    def set_exception(self: Any, exception: Any) -> Any:
        if exception is not None and len(_entries) < _MOST and endings.find(exception) is not None:
            self._devfix_entry = entry = [exception, False]
            _entries.append(entry)
        return original(self, exception)

    patching.replace(_base.Future, "set_exception", set_exception, shared=True)
    for name in ("result", "exception"):
        method = getattr(_base.Future, name)

        def asked(self: Any, *args: Any, _original: Any = method, **kwargs: Any) -> Any:
            try:
                return _original(self, *args, **kwargs)
            finally:
                if entry := vars(self).get("_devfix_entry"):
                    entry[1] = True

        patching.replace(_base.Future, name, functools.wraps(method)(asked), shared=True)
