"""Workers of a pool of processes: they write what they counted before `Pool.terminate` ends them by a signal."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any

_POOLS = ("multiprocessing.pool", "torch.multiprocessing.pool")


def write_when_ended(process: Any, write: Callable[[], None]) -> None:
    """Let a worker write before it is ended while it returns a result or waits for a task.

    Leaving `with Pool() as pool` does that to all workers. The program's tasks and its own handler are left alone: a
    signal that comes in a task ends the worker at once, as it would without the probe.
    """
    module = getattr(getattr(process, "_target", None), "__module__", "")
    if module not in _POOLS or threading.current_thread() is not threading.main_thread():
        return
    with contextlib.suppress(Exception):
        tasks, results = process._args[:2]
        _guard(tasks, results, write)


def _guard(tasks: Any, results: Any, write: Callable[[], None]) -> None:
    """Replace what the worker takes from both queues at its start."""
    queues = sys.modules["multiprocessing.queues"]
    if not (isinstance(tasks, queues.SimpleQueue) and isinstance(results, queues.SimpleQueue)):
        return
    get, put = tasks.get, results.put

    def end(number: int, frame: Any) -> None:
        try:
            write()
        finally:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)

    def get_task() -> Any:
        _change(signal.SIG_DFL, end)
        task = get()
        if task is not None:  # without another task the worker ends, and may be ended meanwhile
            _change(end, signal.SIG_DFL)
        return task

    def put_result(result: Any) -> None:
        _change(signal.SIG_DFL, end)
        put(result)

    tasks.get, results.put = get_task, put_result


def _change(old: Any, new: Any) -> None:
    """Replace the handler of the signal by which pools end workers, if it is the `old` one."""
    with contextlib.suppress(ValueError, OSError):
        if signal.getsignal(signal.SIGTERM) is old:
            signal.signal(signal.SIGTERM, new)
