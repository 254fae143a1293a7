"""Run programs with limits on time and output, and leave none of their processes behind.

Each program runs below a supervisor (supervised.py, supervisor.py) that ends all of its processes when the program
ends, when its time is over, and when devfix itself is killed.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, Protocol

from devfix.model.until import Until
from devfix.process.end_watch import LOOK, EndWatch
from devfix.process.limits import LimitKind, ResourceLimits
from devfix.process.output_buffer import BoundedOutput
from devfix.process.supervised import GRACE, SupervisedProcess

Hear = Callable[[int, bytes], None]
"""Called with a stream and what the program has printed on it."""


class Cancellation(Protocol):
    """Says whether a program is to be killed, as an event does; it is asked ten times a second."""

    def is_set(self) -> bool:
        """Return whether it is."""


AGAIN = 20.0  # seconds for a program to end and clean up after an interrupt, before it is interrupted again
PLAIN = ResourceLimits()  # for what devfix itself starts


@dataclass(frozen=True)
class TorchProcess:
    """A process that loaded torch: its command, and the variables of devfix that it was started without.

    `image` is the same for its forks, and different for every other started program.
    """

    pid: int
    image: str
    command: tuple[str, ...]
    lacks: tuple[str, ...]


@dataclass(frozen=True)
class Completed:
    """The end of a program; `exit_code` is None if a signal, the time limit or an `internal_error` ended it.

    `signal` is a name ("SIGSEGV"), `seconds` the wall time, `internal_error` an error of devfix or the system ("cannot
    start 'x': …"), or the limit that was exceeded. If a stream was longer than the limit, its head and tail are kept
    and `truncated` is true. `with_torch` has the processes that loaded torch, if the environment requests a probe.
    `ended` says what the program had done when it was ended as requested, `failed_requests` which requests failed.
    `limit` is the limit for which it was ended, `memory` the most bytes that its processes took, 0 without a limit on
    them, and `processor` the seconds of processor time that they took, 0 if unknown. `core_wait` counts the seconds for
    which their main threads waited for a core that others had, where `limits` have the program watched.
    """

    exit_code: int | None
    signal: str
    timed_out: bool
    seconds: float
    stdout: str
    stderr: str
    truncated: bool
    internal_error: str = ""
    with_torch: tuple[TorchProcess, ...] = ()
    ended: str = ""
    failed_requests: tuple[str, ...] = ()
    limit: LimitKind | None = None
    memory: int = 0
    processor: float = 0.0
    core_wait: float = 0.0


def run(
    command: Sequence[str],
    cwd: Path,
    environment: Mapping[str, str],
    timeout: float,
    limits: ResourceLimits = PLAIN,
    read_only: Sequence[Path] = (),
    through: bool = False,
    until: Until | None = None,
    mark: Path | None = None,
    hear: Hear | None = None,
    cancelled: Cancellation | None = None,
) -> Completed:
    """Run a command to its end, or for `timeout` seconds. Never raises because of what the program does.

    A program that exceeds `limits` is killed, and `internal_error` says which. `read_only` are paths that the program
    cannot change: writes are lost or rejected (`can_protect` says whether the system supports that). With `through` the
    program has this process's own input and output, and `stdout` and `stderr` stay empty. A program that is to run
    `until` something is then interrupted as by Ctrl-C, twice if it goes on, and killed at last; `mark` is a file that
    appears when it has run the line that failed often enough. `hear` is given what the program prints, as it comes.
    Once `cancelled` is set, it is killed as if its time were over.
    """
    began = time.monotonic()
    try:
        program = SupervisedProcess(command, cwd, environment, read_only=read_only, through=through, limits=limits)
    except (OSError, ValueError) as error:
        name = command[0] if command else ""
        return Completed(None, "", False, 0.0, "", "", False, f"cannot start {name!r}: {error}")
    captures = [BoundedOutput(limits.output_limit), BoundedOutput(limits.output_limit), BoundedOutput(100_000)]
    with program:
        deadline = began + timeout
        watch = EndWatch(until, deadline, mark) if until is not None else None
        timed_out, is_ended = not _drain(program, captures, deadline, watch, hear, cancelled), False
        seconds = time.monotonic() - began
        if watch is not None:
            watch.close()
            if is_ended := timed_out and watch.is_due:
                timed_out = not _interrupt(program, captures)
        if timed_out:
            program.stop()
            _drain(program, captures, time.monotonic() + GRACE)
    stdout, stderr, status = (capture.text() for capture in captures)
    truncated = bool(captures[0].dropped or captures[1].dropped)
    end = _ending(status)
    done = Completed(
        end.exit_code,
        "",
        False,
        seconds,
        stdout,
        stderr,
        truncated,
        end.problem,
        tuple(_with_torch(status)),
        limit=end.limit,
        memory=end.memory,
        processor=end.processor,
        core_wait=end.core_wait,
    )
    if watch is not None and is_ended:
        return replace(done, ended=watch.why, failed_requests=tuple(watch.failed))
    if timed_out and end.seconds is None:
        return replace(done, exit_code=None, timed_out=True)
    lost = "the supervisor of the program was killed" if end.seconds is None and not end.problem else ""
    return replace(done, signal=end.signal, seconds=end.seconds or seconds, internal_error=end.problem or lost)


def can_protect(paths: Sequence[Path]) -> bool:
    """Return whether programs can be kept from writing to these paths, which takes a user namespace, or root."""
    return not run([sys.executable, "-I", "-S", "-c", ""], Path("/"), os.environ, 60, read_only=paths).internal_error


def _interrupt(program: SupervisedProcess, captures: Sequence[BoundedOutput]) -> bool:
    """Interrupt the program, a second time if it goes on, and return whether it ended.

    Python misses a signal that comes just before a blocking call begins, until the next one comes
    (https://github.com/python/cpython/issues/98140). One of about 1,300 interrupts at the start of `time.sleep` was
    missed beside five other such runs on two cores.
    """
    for seconds in (AGAIN, GRACE):
        program.interrupt()
        if _drain(program, captures, time.monotonic() + seconds):
            return True
    return False


def _drain(
    program: SupervisedProcess,
    captures: Sequence[BoundedOutput],
    deadline: float,
    watch: EndWatch | None = None,
    hear: Hear | None = None,
    cancelled: Cancellation | None = None,
) -> bool:
    """Read until all three streams are closed.

    Return False if the deadline passes first, the program is due, or its run is `cancelled`.
    """
    looks = watch is not None or cancelled is not None
    streams = dict(zip((program.stdout, program.stderr, program.status), captures, strict=True))
    with selectors.DefaultSelector() as selector:
        for stream in streams:
            if stream >= 0:
                selector.register(stream, selectors.EVENT_READ)
        while selector.get_map():
            left = deadline - time.monotonic()
            if left <= 0 or (watch is not None and watch.is_due) or (cancelled is not None and cancelled.is_set()):
                return False
            for key, _ in selector.select(min(left, LOOK) if looks else left):
                data = os.read(key.fd, 1 << 16)
                if not data:
                    selector.unregister(key.fd)
                    continue
                streams[key.fd].add(data)
                if watch is not None and key.fd != program.status:
                    watch.see(key.fd, data)
                if hear is not None and key.fd != program.status:
                    hear(key.fd, data)
    return True


class _End(NamedTuple):
    """The supervisor's lines: `seconds` is None if the program has not ended, `problem` an error."""

    exit_code: int | None
    signal: str
    seconds: float | None
    problem: str
    limit: LimitKind | None
    memory: int
    processor: float
    core_wait: float


def _ending(status: str) -> _End:
    code, name, seconds, problem, limit, memory = None, "", None, [], None, 0
    times = dict[str, float]()
    for line in status.splitlines():
        word, _, rest = line.partition(" ")
        if word == "torch":
            continue
        if word == "problem":
            problem.append(rest)
            continue
        if word == "memory":
            memory = int(rest)
            continue
        if word in ("processor", "core-wait"):
            times[word] = float(rest)
            continue
        number, _, wall = rest.partition(" ")
        if word == "limit":
            kind, _, said = wall.partition(" ")
            seconds, name, limit = float(number), "SIGKILL", LimitKind(kind)
            problem.append(f"devfix ended the program: {said}")
            continue
        seconds = float(wall)
        if word == "exit":
            code = int(number)
        else:
            name = signal_name(int(number))
    return _End(
        code, name, seconds, "; ".join(problem), limit, memory, times.get("processor", 0.0), times.get("core-wait", 0.0)
    )


def _with_torch(status: str) -> Iterator[TorchProcess]:
    for line in status.splitlines():
        word, _, rest = line.partition(" ")
        if word == "torch":
            try:
                record = json.loads(rest)
                yield TorchProcess(record["pid"], record["image"], tuple(record["command"]), tuple(record["lacks"]))
            except ValueError:  # the last line was truncated
                continue


def signal_name(number: int) -> str:
    """Return the name of a signal, such as "SIGKILL"."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
