"""Child processes: each starts its own trace, and writes it even if it ends without `atexit`."""

from __future__ import annotations

import functools
import os
import sys
import time
from typing import Any

from ..capture.failure_recorder import FailureRecorder
from ..capture.trace_writer import TraceWriter
from ..counters import scope_watch, sites, totals
from ..inspection import device_map
from ..provenance import transfers
from ..simulation.patching import replace
from . import pool_workers

PATIENCE = 5.0  # seconds for children to end after an exception has ended the program


def follow_forks(trace: TraceWriter, endings: FailureRecorder) -> None:
    """Start a trace in each child that is forked from now on."""

    def renew() -> None:
        trace.__init__(trace.order)  # type: ignore[misc]
        endings.__init__(trace)  # type: ignore[misc]
        endings.eager = True
        for part in (transfers, scope_watch, sites, totals, device_map):
            part.reset()

    os.register_at_fork(after_in_child=renew)


def install(trace: TraceWriter, endings: FailureRecorder) -> None:
    """Write before `os._exit`, by which forked workers end."""
    leave = os._exit

    @functools.wraps(leave)
    def _exit(status: int) -> Any:
        try:
            trace.write()
        finally:
            leave(status)

    replace(os, "_exit", _exit, shared=True)
    endings.eager = _is_worker()
    _watch_bootstrap(trace, endings)


def end_children(seconds: float = PATIENCE) -> None:
    """End the children of a program that an exception has ended, unless they end by themselves.

    The interpreter would wait for them, and they for what the program will never send. It ends daemons by itself: a
    worker of a pool that is ended here may hold the lock that the pool's own shutdown waits for.
    """
    process = sys.modules.get("multiprocessing.process")
    children = [] if process is None else [child for child in process.active_children() if not child.daemon]
    deadline = time.monotonic() + seconds
    for child in children:
        child.join(max(0.0, deadline - time.monotonic()))
    for child in children:
        if child.is_alive():
            child.terminate()


def _is_worker() -> bool:
    process = sys.modules.get("multiprocessing.process")
    return process is not None and process.parent_process() is not None


def _watch_bootstrap(trace: TraceWriter, endings: FailureRecorder) -> None:
    """Record exceptions that end a `multiprocessing.Process`: its bootstrap prints and swallows them."""
    import multiprocessing.process as process

    original = process.BaseProcess._bootstrap  # type: ignore[attr-defined]

    @functools.wraps(original)
    def _bootstrap(self: Any, *args: Any, **kwargs: Any) -> Any:
        pool_workers.write_when_ended(self, trace.write)
        code = original(self, *args, **kwargs)
        if code:
            endings.last_ended()
        trace.write()
        return code

    replace(process.BaseProcess, "_bootstrap", _bootstrap)
