"""Select the failure of a trace: all are recorded, one of those that end the process, a thread or a test."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import threading
from collections import Counter, OrderedDict
from pathlib import Path
from typing import Any

from ..counters import scope_watch, sites
from ..provenance import places
from . import failure, kinds
from .trace_writer import TraceWriter

MARK = "_devfix_failure"
_RANK = {"": 0, "thread": 1, "test": 2, "process": 3}
_REPEATS = 20
_FIRST = 3  # handled failures of a process that its trace contains


class FailureRecorder:
    """Keeps the latest failures of one process and decides which of them the trace contains."""

    def __init__(self, trace: TraceWriter) -> None:
        """Record for `trace`."""
        self.trace = trace
        self._captured: OrderedDict[int, failure.Json] = OrderedDict()
        self._numbers = itertools.count(1)
        self._at: Counter[Any] = Counter()
        self._rank = 0
        self._busy = threading.local()
        self.eager = False  # write at once, for a process that may be killed without warning

    def record_failure(self, exception: BaseException, func: Any, args: Any, kwargs: Any) -> None:
        """Record an exception that an operator raised; the slot `hooks.failed`."""
        if getattr(self._busy, "now", False):
            return
        if getattr(exception, MARK, None) is not None:
            sites.count_failure(func)  # the operator around the one that reported it first
            return
        kind = kinds.kind_of(failure.message_of(exception))
        if not kind:
            return
        self._busy.now = True
        try:
            self._take(exception, kind, func, args, kwargs)
        except Exception as error:
            self.trace.complain(error)
        finally:
            self._busy.now = False

    def _take(self, exception: BaseException, kind: str, func: Any, args: Any, kwargs: Any) -> None:
        sites.count_failure(func)
        stack = places.nearest(1)
        self._at[(kind, id(stack[0]), stack[1]) if stack else kind] += 1
        if self._at[(kind, id(stack[0]), stack[1]) if stack else kind] > _REPEATS:
            return  # a program that relies on failures (a search by trial) must not pay for each
        with failure.quiet():
            if scope_watch.is_active():
                scope_watch.look()
            recorded = failure.capture(exception, kind, func, args, kwargs)
        number = next(self._numbers)
        self._captured[number] = recorded
        if len(self._captured) > 16:
            self._captured.popitem(last=False)
        with contextlib.suppress(AttributeError):
            setattr(exception, MARK, (os.getpid(), number))
        is_first = self._at[(kind, id(stack[0]), stack[1]) if stack else kind] == 1
        if is_first and len(self.trace.handled) < _FIRST:
            self.trace.handled.append(recorded)
        if not self._rank:
            self.trace.failure = recorded
            if self.eager or number <= _FIRST:  # the process may be killed without warning
                self.trace.write()

    def uncaught(self, exception: BaseException | None, where: str) -> None:
        """Record what ended a "process", a "thread" or a "test"; the first of the highest rank is kept."""
        rank = _RANK[where]
        if exception is None or self._rank >= rank:
            return
        try:
            with failure.quiet():
                recorded = self._find(exception)
            recorded["uncaught"] = True
            self.trace.failure, self._rank = recorded, rank
        except Exception as error:
            self.trace.complain(error)

    @property
    def has_ended_process(self) -> bool:
        """Return whether an uncaught exception ends this process."""
        return self._rank == _RANK["process"]

    def find(self, exception: BaseException) -> failure.Json | None:
        """Return the device failure that caused an exception; None if there is none."""
        try:
            with failure.quiet():
                recorded = self._find(exception)
        except Exception as error:
            self.trace.complain(error)
            return None
        return None if recorded["kind"] == "other" else recorded

    def forget_repeats(self) -> None:
        """Reset the counts of failures per location."""
        self._at.clear()

    def last_ended(self) -> None:
        """Use the latest failure as the one that ended this process with an exit code."""
        if self._captured and not self._rank:
            recorded = next(reversed(self._captured.values()))
            recorded["uncaught"] = True
            self.trace.failure, self._rank = recorded, _RANK["process"]

    def _find(self, exception: BaseException) -> failure.Json:
        chain = _chain(exception)
        # The operator's own failure is more informative than an exception that a library raised from it.
        for link in chain:
            mark = getattr(link, MARK, None)
            recorded = self._captured.get(mark[1]) if mark is not None and mark[0] == os.getpid() else None
            recorded = recorded or self._find_quoted(failure.message_of(link))
            if recorded is not None:
                return {**recorded, "traceback": failure.format_traceback(exception)}
        for link in chain:
            kind = kinds.kind_of_raised(link, failure.message_of(link))
            if kind:
                return {**failure.reconstruct(link, kind), "traceback": failure.format_traceback(exception)}
        return failure.reconstruct(exception, "other")

    def _find_quoted(self, message: str) -> failure.Json | None:
        """Return a failure whose message this one quotes: errors of workers reach the main thread as text."""
        ours = [
            recorded
            for recorded in reversed(self._captured.values())
            if recorded["message"] and recorded["message"] in message
        ]
        if ours:
            return ours[0]
        if not kinds.kind_of(message):
            return None
        for recorded in self._read_children():
            if recorded.get("message") and recorded["message"] in message and recorded.get("operands"):
                return recorded
        return None

    def _read_children(self) -> list[failure.Json]:
        """Read the failures written by child processes and their descendants (of a fork server)."""
        found = []
        folder = self.trace.order.traces
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
            if name.endswith(".json") and not name.startswith(f"{os.getpid()}-"):
                try:
                    raw = json.loads(Path(folder, name).read_bytes())
                    if raw["failure"] and _is_below(int(raw["process"]["parent"])):
                        found.append(raw["failure"])
                except (OSError, ValueError, KeyError, TypeError):
                    continue
        return found


def _is_below(pid: int) -> bool:
    """Return whether a process is this one or descends from it, as far as /proc shows."""
    for _ in range(4):
        if pid == os.getpid():
            return True
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            return False
    return False


def _chain(exception: BaseException) -> list[BaseException]:
    """Return the exception, its causes, and what was being handled when it was raised.

    `raise ... from None` only keeps the latter from being printed: it is still why the exception was raised.
    """
    chain: list[BaseException] = []
    link: BaseException | None = exception
    while link is not None and all(link is not known for known in chain) and len(chain) < 20:
        chain.append(link)
        if isinstance(link, failure.GROUP):
            chain.extend(link.exceptions[:20])
        link = link.__cause__ or link.__context__
    return chain
