"""Run programs in children forked from a process that has imported torch, as a fresh interpreter would run them."""

from __future__ import annotations

import json
import os
import re
import selectors
import socket
import threading
import time
from collections.abc import Mapping, Sequence
from copy import copy
from pathlib import Path

from devfix.execution.program_streams import closing_descriptors, drain
from devfix.notebooks import HOST
from devfix.process import Completed, ResourceLimits, SupervisedProcess
from devfix.process.output_buffer import BoundedOutput
from devfix.process.running import Cancellation, Hear, signal_name

_SERVER = Path(__file__).parents[1] / "probe" / "prefork" / "server.py"
_START_SECONDS, _GRACE = 600.0, 60.0
# Variables that an interpreter or its libraries read at start; a running process cannot adopt other values.
_READ_AT_START = re.compile(r"(PYTHON|LD_|DYLD_|OMP_|MKL_|KMP_|OPENBLAS_|GOMP_|MALLOC_|TORCH|LC_|LANG).*")
_AT_START = ("sitecustomize", "usercustomize")
_ENTRY = Path(__file__).resolve().parents[1] / "probe" / "entry"  # run by the server for each program
_IMPORTED = "torch"  # a module below it would be run a second time: the server has imported it
_TAKEN_OVER = frozenset({"PYTHONPATH", "PYTHONDONTWRITEBYTECODE"})


def can_fork(command: Sequence[str], python: Path) -> bool:
    """Return whether a command is `python script.py …` or `python -m module …`, which a server can run.

    >>> can_fork(("/python", "-m", "pytest"), Path("/python")), can_fork(("torchrun", "a.py"), Path("/python"))
    (True, False)
    """
    if len(command) < 2 or command[0] != str(python):
        return False
    if command[1] == "-m":
        return len(command) > 2 and command[2].partition(".")[0] != _IMPORTED
    return command[1].endswith(".py")


def forked_words(command: Sequence[str], python: Path, tree: Path, cwd: Path) -> tuple[str, ...] | None:
    """Return what a server runs for a command in `cwd`; None if it cannot, or its script lies outside of `tree`."""
    if not can_fork(command, python):
        return None
    script = (cwd / command[1]).resolve()
    is_own = command[1] in ("-m", str(HOST)) or (script.is_file() and script.is_relative_to(tree.resolve()))
    return tuple(command[1:]) if is_own else None


class PreforkError(Exception):
    """The server cannot run this program, or has died: run it in a fresh process."""


class PreforkServer:
    """A process of the target's interpreter that has imported `modules`, and forks a child for each run.

    It starts in the background; `run` waits for it, may be called from several threads, and raises PreforkError if a
    fresh process must be used. `close` ends it and everything that it started.
    """

    def __init__(
        self,
        python: Path,
        environment: Mapping[str, str],
        modules: Sequence[str] = ("torch",),
        limits: ResourceLimits | None = None,
    ) -> None:
        """Start the process with this environment; it is ended if its runs together exceed the limits."""
        self._output = (limits or ResourceLimits()).output_limit
        self._environment = {name: value for name, value in environment.items() if name != "DEVFIX_PROBE"}
        self._lock = threading.Lock()
        self._problem = ""
        self._ready = self._is_closed = False
        self._modules: frozenset[str] = frozenset()
        self._said = BoundedOutput(20_000)
        self._parent: PreforkServer | None = None
        self._program: SupervisedProcess | None = None
        self._control, theirs = socket.socketpair()
        command = [str(python), str(_SERVER), str(theirs.fileno()), *modules]
        try:
            self._program = SupervisedProcess(
                command, Path.cwd(), self._environment, pass_fds=(theirs.fileno(),), limits=limits
            )
        except (OSError, ValueError) as error:
            self._problem = f"cannot start {python}: {error}"
        finally:
            theirs.close()
        if self._program is not None:
            threading.Thread(target=self._listen, args=(self._program,), daemon=True).start()

    def modules(self) -> frozenset[str]:
        """Return the names of the modules that it has imported, without the standard library; none if it cannot run."""
        return self._modules if self._is_prepared() and not self._is_closed else frozenset()

    def branch(self, code: str, given: Mapping[str, str]) -> PreforkServer:
        """Return a server that is forked from this one and has run `code` too, with `given` as its names.

        It starts in the background and ends with this one. If the code fails, this one runs what the other should.
        """
        if self._parent is not None and not self._is_prepared():
            return self._parent.branch(code, given)
        server = copy(self)
        server._parent = self
        server._lock, server._ready, server._program = threading.Lock(), False, None
        server._control, theirs = socket.socketpair()
        with theirs:
            try:
                with self._lock:
                    self._await_ready()
                    socket.send_fds(self._control, [b"b"], [theirs.fileno()])
                server._control.sendall(json.dumps({"code": code, "given": dict(given)}).encode() + b"\n")
            except (OSError, PreforkError) as error:
                server._problem = str(error)
        return server

    def run(
        self,
        words: Sequence[str],
        cwd: Path,
        environment: Mapping[str, str],
        timeout: float,
        output_limit: int = 0,
        hear: Hear | None = None,
        cancelled: Cancellation | None = None,
        children: PreforkServer | None = None,
    ) -> Completed:
        """Run `python words` in `cwd` with exactly this environment, for at most `timeout` seconds.

        `words` are a script and its arguments, or "-m", a module and its arguments.
        `hear` is given what it prints, as it comes. Once `cancelled` is set, it is killed as if its time were over.
        The Python programs that it starts are forked by `children`.
        """
        if self._parent is not None and not self._is_prepared():
            return self._parent.run(words, cwd, environment, timeout, output_limit, hear, cancelled, children)
        self._check(environment, cwd)
        request = {"words": list(words), "cwd": str(cwd), "environment": dict(environment)}
        controls = children._controls() if children is not None else []
        if controls:
            request["read_at_start"] = _READ_AT_START.pattern
        ours, theirs = socket.socketpair()
        out, out_end = os.pipe()
        err, err_end = os.pipe()
        with ours, closing_descriptors(out, err):
            with theirs, closing_descriptors(out_end, err_end):
                try:
                    with self._lock:
                        self._await_ready()
                        socket.send_fds(self._control, [b"r"], [theirs.fileno(), out_end, err_end, *controls])
                    ours.sendall(json.dumps(request).encode() + b"\n")
                except OSError as error:
                    raise PreforkError(self._death(error)) from error
            return self._gather(ours, out, err, timeout, output_limit or self._output, hear, cancelled)

    def close(self) -> None:
        """End the process and everything that it started."""
        self._is_closed = True
        self._control.close()
        program, self._program = self._program, None
        if program is not None:
            with program:
                pass

    def _controls(self) -> list[int]:
        """Return the descriptor on which it is asked for programs, none if it cannot run any."""
        if self._is_prepared() and not self._is_closed:
            return [self._control.fileno()]
        return self._parent._controls() if self._parent is not None else []

    def _check(self, environment: Mapping[str, str], cwd: Path) -> None:
        for entry in environment.get("PYTHONPATH", "").split(os.pathsep):
            folders = {folder / entry for folder in (cwd, Path.cwd())} - {_ENTRY}
            if entry and any((folder / f"{name}.py").is_file() for folder in folders for name in _AT_START):
                raise PreforkError(
                    f"{entry} has a module that runs when an interpreter starts, which the warm one has done"
                )
        names = {*environment, *self._environment} - _TAKEN_OVER
        for name in sorted(names):
            if _READ_AT_START.fullmatch(name) and environment.get(name) != self._environment.get(name):
                raise PreforkError(
                    f"{name} is read when an interpreter starts, and the warm one has started without it"
                )

    def _is_prepared(self) -> bool:
        """Wait until a branch has run its code, and return whether it succeeded."""
        try:
            with self._lock:
                self._await_ready()
        except (OSError, PreforkError):
            return self._is_closed
        return True

    def _await_ready(self) -> None:
        if self._problem or self._is_closed:
            raise PreforkError(self._problem or "the warm process is closed")
        if self._ready:
            return
        self._control.settimeout(_START_SECONDS)
        line = b""
        while not line.endswith(b"\n"):
            data = self._control.recv(4096)
            if not data:
                raise OSError("it ended before it was ready")
            line += data
        ready = json.loads(line)
        self._problem, self._modules = str(ready["error"]), frozenset(ready["modules"])
        if self._problem:
            raise PreforkError(f"the warm process cannot import what it should: {self._problem}")
        self._control.settimeout(None)
        self._ready = True

    def _death(self, error: OSError) -> str:
        said = self._said.text().strip()
        return f"the warm process has died ({error})" + (f": {said[-500:]}" if said else "")

    def _listen(self, program: SupervisedProcess) -> None:
        """Read the output of the server itself, so that it never blocks."""
        with selectors.DefaultSelector() as selector:
            try:
                for stream in (program.stdout, program.stderr):
                    selector.register(stream, selectors.EVENT_READ)
                while selector.get_map():
                    for key, _ in selector.select():
                        data = os.read(key.fd, 1 << 16)
                        self._said.add(data)
                        if not data:
                            selector.unregister(key.fd)
            except (OSError, ValueError, KeyError):
                return  # closed

    def _gather(
        self,
        ours: socket.socket,
        out: int,
        err: int,
        timeout: float,
        limit: int,
        hear: Hear | None,
        cancelled: Cancellation | None,
    ) -> Completed:
        began, status = time.monotonic(), BoundedOutput(10_000)
        captures = {out: BoundedOutput(limit), err: BoundedOutput(limit), ours.fileno(): status}
        heard = {} if hear is None else dict.fromkeys((out, err), hear)
        try:
            timed_out = not drain(captures, began + timeout, heard, cancelled)
        except BaseException:  # an interrupt: the program has ended before its folders are removed
            self._end(ours, captures)
            raise
        seconds = time.monotonic() - began
        if timed_out:
            self._end(ours, captures)
        said = (captures[out].text(), captures[err].text(), bool(captures[out].dropped or captures[err].dropped))
        word, number, wall, processor = (*status.text().split(), "", "", "", "")[:4]
        used = float(processor or 0.0)
        if timed_out:
            return Completed(None, "", True, seconds, *said, processor=used)
        if word not in ("exit", "signal"):
            raise PreforkError("the warm process died while it ran the program")
        code, name = (int(number), "") if word == "exit" else (None, signal_name(int(number)))
        return Completed(code, name, False, float(wall), *said, processor=used)

    def _end(self, ours: socket.socket, captures: Mapping[int, BoundedOutput]) -> None:
        """Let the server see the end of the stream, and end its children."""
        ours.shutdown(socket.SHUT_WR)
        drain(captures, time.monotonic() + _GRACE)
