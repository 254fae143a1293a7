"""Bootstrap the probe: install the simulation, register hooks, and write the trace at exit."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from .. import config
from ..capture import failure, imported_modules, modules, unraised
from ..capture.failure_recorder import FailureRecorder
from ..capture.trace_writer import TraceWriter
from ..counters import checksums, scope_watch, sites, totals, uninitialized, untrained
from ..inspection import device_map
from ..provenance import compiler_import, creations, places, tracking
from ..recipes import calls
from ..simulation import hooks, patching, seeding, world
from . import child_processes, scripts, shutdown, test_runners

_begun: tuple[TraceWriter, FailureRecorder] | None = None


def begin(text: str | None = None, environment: Mapping[str, str] | None = None) -> None:
    """Enter the configured world and start this process's trace.

    `text` is the configuration, by default that of the environment; `environment` is that in which the program started.
    """
    global _begun
    order = config.read(text)
    if order is None or _begun is not None:
        return
    places.own(order.owned)
    scope_watch.want(order.watch)
    sites.want(order.reach, order.steps, order.traces)
    checksums.want(order.given)
    untrained.want(order.untrained)
    totals.want(order.totals, order.kind == "cpu")
    calls.want(order.calls)
    imported_modules.begin(os.environ if environment is None else environment)
    trace = TraceWriter(order)
    endings = FailureRecorder(trace)
    _begun = trace, endings
    _take_slots(endings)
    seeding.begin(order.seed, order.kind == "real")
    child_processes.follow_forks(trace, endings)
    _enter(order, trace, endings)
    _finish_with(trace, endings)


def _enter(order: config.ProbeConfig, trace: TraceWriter, endings: FailureRecorder) -> None:
    """Enter a world and replace what reveals it; everything is undone when the world is left."""
    try:
        world.enter(order.kind, order.gpus, order.current, order.device)
        seeding.install()
        modules.install()
        tracking.install()
        compiler_import.install()
        untrained.install()
        if not order.scripts:
            scripts.interpret()
        if order.map:
            device_map.install()
        if order.lift is not None:
            from ..lift import install as lift  # only imported by lifted runs

            lift.install(order.lift)
    except Exception as error:
        trace.complain(error)
        trace.blind = trace.problems[-1]
    _hook_endings(endings)
    unraised.install(trace, endings)
    child_processes.install(trace, endings)
    test_runners.install(endings)


def _take_slots(endings: FailureRecorder) -> None:
    hooks.failed = endings.record_failure
    hooks.moved, hooks.on_data_set, hooks.read = tracking.record_move, tracking.became, tracking.read
    hooks.on_data_shared = tracking.record_data
    hooks.on_created = creations.recorder()
    if totals.is_active():
        plain = hooks.on_created

        def counted(result: Any, func: Any, args: Any, kwargs: Any) -> None:
            plain(result, func, args, kwargs)
            totals.count(result, func)
            uninitialized.clear(result, func)
            seeding.record_draw(result, func, args, kwargs)

        hooks.on_created = counted
    if scope_watch.is_active() or sites.is_active():
        on_created = hooks.on_created

        def created(result: Any, func: Any, args: Any, kwargs: Any) -> None:
            on_created(result, func, args, kwargs)
            scope_watch.look()
            sites.count_operator(result, func, args, kwargs)

        def moved(result: Any, source: Any, func: Any) -> None:
            tracking.record_move(result, source, func)
            scope_watch.look()
            sites.count_operator(result, func, (source,))

        hooks.on_created, hooks.moved, hooks.on_completed = created, moved, sites.count_function


def _hook_endings(endings: FailureRecorder) -> None:
    previous, previous_thread = sys.excepthook, threading.excepthook

    def excepthook(kind: type[BaseException], value: BaseException, trace: TracebackType | None) -> None:
        endings.uncaught(value, "process")
        failure.strip(value)
        previous(kind, value, value.__traceback__ if value.__traceback__ is not None else trace)

    def thread_excepthook(arguments: Any) -> None:
        endings.uncaught(arguments.exc_value, "thread")
        if arguments.exc_value is not None:
            failure.strip(arguments.exc_value)
        previous_thread(arguments)

    patching.replace(sys, "excepthook", excepthook, shared=True)
    patching.replace(threading, "excepthook", thread_excepthook, shared=True)


def _finish_with(trace: TraceWriter, endings: FailureRecorder) -> None:
    def finish() -> None:
        # The interpreter stores the exception that ended it even if the program has its own hook.
        if "_pytest.runner" not in sys.modules:  # pytest sets it too, also for failures that a test expects
            endings.uncaught(getattr(sys, "last_value", None), "process")
            unraised.report_unasked(endings)
        trace.write()
        if endings.has_ended_process:
            child_processes.end_children()
            trace.write()

    atexit.register(finish)


def leave_program() -> None:
    """Run the destructors that the interpreter is about to run, while everything still works."""
    if _begun is not None:
        try:
            if shutdown.let_go_of_destructors(lambda file: bool(file) and places.learn(file) == places.OWNED):
                _begun[0].write()  # what they did counts too
        except Exception as error:
            _begun[0].complain(error)


def trace_of(exception: BaseException) -> dict[str, Any] | None:
    """Return this process's trace as if the exception had ended it; None if it is unrelated to devices."""
    if _begun is None:
        return None
    trace, endings = _begun
    found = endings.find(exception)
    return None if found is None else {**trace.contents(), "failure": {**found, "uncaught": True}}


def is_lifted() -> bool:
    """Return whether test code is lifted in this process."""
    lift = sys.modules.get(f"{__package__.rpartition('.')[0]}.lift.modules")
    return lift is not None and bool(lift.is_on())


def obey() -> None:
    """Enter the world that is configured now, or leave the current one if there is no configuration any more."""
    order = config.read()
    if _begun is None:
        begin()
    elif order is None:
        world.leave()
    else:
        _enter(order, *_begun)


def forget_repeats() -> None:
    """Record failures at the same locations again, for a new test."""
    if _begun is not None:
        _begun[1].forget_repeats()


def warn(problem: str) -> None:
    """Record a problem of the entry in the trace."""
    if _begun is not None:
        _begun[0].complain(problem)


__all__ = ["begin", "forget_repeats", "is_lifted", "leave_program", "obey", "trace_of", "warn"]
