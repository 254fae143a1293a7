"""Keep what rules print out of standard output, which has the report.

Rules run in threads of their own, several at a time, so that `contextlib.redirect_stdout` would redirect everybody's
output. A stand-in for `sys.stdout` chooses by the context instead.
"""

from __future__ import annotations

import io
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from types import TracebackType
from typing import Any, TextIO, cast

_IS_RULE: ContextVar[bool] = ContextVar("devfix_is_rule", default=False)
_COLLECTED: ContextVar[TextIO | None] = ContextVar("devfix_rule_output", default=None)
_INSTALLING = threading.Lock()


class _Stdout:
    """Standard output; inside of rules, standard error, or what collects their output."""

    def __init__(self, real: TextIO) -> None:
        self._real = real

    def __getattr__(self, name: str) -> Any:
        return getattr(_COLLECTED.get() or sys.stderr if _IS_RULE.get() else self._real, name)


@contextmanager
def collected_output() -> Iterator[io.StringIO]:
    """Collect what the rules print that are called meanwhile in this thread, and the tracebacks of what they raise."""
    output = io.StringIO()
    token = _COLLECTED.set(output)
    try:
        yield output
    finally:
        _COLLECTED.reset(token)


def as_rule(function: Callable[[], None]) -> Callable[[], None]:
    """Return a function, to be called in another thread, whose output is a rule's."""
    with _INSTALLING:
        # Again each time: others exchange standard output for a while, such as a live display or a test's capture.
        if sys.stdout is not None and not isinstance(sys.stdout, _Stdout):
            sys.stdout = cast(TextIO, _Stdout(sys.stdout))
    context = copy_context()
    context.run(_IS_RULE.set, True)
    return lambda: context.run(function)


def collect_traceback(error: BaseException, without: str) -> None:
    """Add the traceback of an exception to the collected output, if any, without the outermost frames of one file."""
    output = _COLLECTED.get()
    if output is None:
        return
    trace: TracebackType | None = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename in (without, __file__):
        trace = trace.tb_next
    output.write("".join(traceback.format_exception(type(error), error, trace)))
