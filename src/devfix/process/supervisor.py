"""Supervise one program: start it and, when it ends or devfix does, end every process it has started.

A script of the standard library, run as `supervisor.py LIFE STATUS LC_CTYPE LIMITS N WRITTEN PATH... COMMAND...`
between devfix and the program. LIFE is a pipe that devfix holds open: it is closed when devfix wants the program to
end, and also when devfix is killed. A byte in it interrupts the program. STATUS gets one line on how the program ended,
and one for each program image that loads torch. LC_CTYPE is the program's own. LIMITS are those of limit_monitor.py.
The N paths are protected: what the program writes there goes to WRITTEN if possible. As a subreaper the supervisor
inherits daemons and orphans, so that no process can escape it.
"""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Iterable

sys.path.append(os.path.dirname(os.path.abspath(__file__)))
sys.path.append(os.path.join(os.path.dirname(sys.path[-1]), "probe", "prefork"))

import limit_monitor  # type: ignore[import-not-found]  # these are scripts, and not part of a package here
import process_tree  # type: ignore[import-not-found]
import witness  # type: ignore[import-not-found]

_SOON = 0.02  # seconds by which a check may be early, so that one look at the processes serves both


def start(command: list[str], file_size: int) -> int:
    """Start the program in its own session and return its process id. Raises OSError if it cannot start."""
    report, failed = os.pipe()
    supervisor = os.getpid()
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            process_tree.control(process_tree.PARENT_DEATH_SIGNAL, signal.SIGKILL)
            if os.getppid() != supervisor:
                os._exit(127)
            # Python ignores the first two, and a shell has what it starts in the background ignore the last one.
            for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD, signal.SIGINT):
                signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, ())
            limit_monitor.set_limits(file_size)
            os.execvp(command[0], command)
        except OSError as error:
            os.write(failed, str(error.errno).encode())
        finally:
            os._exit(127)
    os.close(failed)
    failure = os.read(report, 16)
    os.close(report)
    if failure:
        raise OSError(int(failure), os.strerror(int(failure)))
    return pid


def report(status: int, lines: Iterable[bytes]) -> None:
    """Write the lines; if devfix was killed there is no reader."""
    for line in lines:
        with contextlib.suppress(OSError):
            os.write(status, line)


def describe_status(status: int) -> str:
    """Return a wait status in words: "exit CODE" or "signal NUMBER"."""
    return f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"exit {os.WEXITSTATUS(status)}"


def protect(paths: list[str], written: str) -> None:
    """Protect the paths from the program. Raises OSError if that is not possible."""
    if paths:
        import mounts  # type: ignore[import-not-found]  # beside this file too

        mounts.protect(paths, written)


def keep(life: int, status: int, limits: str, protected: list[str], written: str, command: list[str]) -> None:
    """Run the program until it ends or the life pipe closes, then end all its processes."""
    wake, awaken = os.pipe()
    os.set_blocking(awaken, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(awaken, warn_on_full_buffer=False)
    signal.pthread_sigmask(signal.SIG_SETMASK, signal.valid_signals() - {signal.SIGCHLD})
    process_tree.control(process_tree.SUBREAPER, 1)
    try:
        protect(protected, written)
    except OSError as error:
        os.write(status, f"problem cannot protect {protected[0]!r}: {error.strerror}\n".encode())
        return
    began = time.monotonic()
    try:
        watch = limit_monitor.LimitMonitor(limits)
        program = start(command, watch.file_size)
    except OSError as error:
        os.write(status, f"problem cannot start {command[0]!r}: {error.strerror}\n".encode())
        return
    ended: dict[int, int] = {}
    over = ""
    seen, tree = witness.Witness(), process_tree.ProcessTree()
    while program not in ended and not over:
        waits = [each for each in (watch.wait, seen.wait) if each is not None]
        ready, _, _ = select.select([life, wake], [], [], min(waits, default=None))
        if life in ready:
            if not os.read(life, 1):
                break
            with contextlib.suppress(OSError):
                os.killpg(program, signal.SIGINT)
        if wake in ready:
            os.read(wake, 4096)
            process_tree.reap(ended)
        is_seen, is_watched = (each.wait is not None and each.wait <= _SOON for each in (seen, watch))
        pids = tree.descendants() if is_seen or is_watched else set()
        if is_seen:
            report(status, seen.look(pids))
        if is_watched and program not in ended:
            over = watch.exceeded_limit(pids)
    if seen.wait is not None:  # processes that outlive the program
        report(status, seen.look(tree.descendants()))
    if over:
        report(status, [f"limit {time.monotonic() - began:.6f} {over}\n".encode()])
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    if watch.memory:
        largest = used.ru_maxrss * 1024  # between two checks, of one process
        report(status, [f"memory {max(watch.peak, min(largest, watch.memory))}\n".encode()])
    report(status, [f"processor {used.ru_utime + used.ru_stime:.6f}\n".encode()])
    report(status, [f"core-wait {watch.core_wait:.6f}\n".encode()])
    if program in ended:
        report(status, [f"{describe_status(ended[program])} {time.monotonic() - began:.6f}\n".encode()])
    if left := process_tree.sweep(program, ended):
        report(status, [f"problem {left} processes of the program would not die\n".encode()])


if __name__ == "__main__":
    for descriptor in map(int, sys.argv[1:3]):
        os.set_inheritable(descriptor, False)
    if not sys.argv[3]:  # in the C locale Python sets it for itself and its children
        os.environ.pop("LC_CTYPE", None)
    rest = 7 + int(sys.argv[5])
    keep(int(sys.argv[1]), int(sys.argv[2]), sys.argv[4], sys.argv[7:rest], sys.argv[6], sys.argv[rest:])
