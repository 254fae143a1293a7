"""The prefork server: a process that has imported torch once, and forks a child for each program.

Run as `python server.py CONTROL MODULE...` by the interpreter of the program under repair. When it is ready it sends
one line of JSON: error (empty if there is none), and modules, the names of those that it has imported. Each message on
the socket CONTROL is one byte with three descriptors: a connection, and the program's stdout and stderr. A fourth is
the CONTROL of the server that is to run the programs that the program starts. The request on the connection is one line
of JSON: words, cwd, environment, and read_at_start for those programs (forked_children.py). The response is one line,
as from the supervisor of processes: "exit CODE SECONDS PROCESSOR" or "signal NUMBER SECONDS PROCESSOR", the last in
seconds of processor time. Closing the connection ends the program.

The byte "b" with one descriptor, the CONTROL of another server, makes a branch: a fork that runs the code of a request
(one line of JSON: code, given), says whether that succeeded as this server does at its start, and then serves too.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import importlib.util
import json
import os
import resource
import select
import signal
import socket
import sys
import time

import process_tree  # type: ignore[import-not-found]  # beside this file

_HERE = os.path.dirname(os.path.abspath(__file__))
_PACKAGE = os.path.dirname(_HERE)
del sys.modules["process_tree"]  # a program may have a module of that name
sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != _HERE]
_LEFT_OUT = frozenset({*sys.stdlib_module_names, "devfix probe"})


def _paths(environment: dict[str, str]) -> list[str]:
    """Return the entries that PYTHONPATH adds to `sys.path`."""
    entries = environment.get("PYTHONPATH", "").split(os.pathsep)
    return list(dict.fromkeys(os.path.abspath(entry) for entry in entries if entry))


def serve(control: socket.socket) -> tuple[dict[str, object], int, int] | None:
    """Fork a supervisor for each request; return only in the processes of programs, and None when devfix is gone."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        try:
            message, descriptors, _, _ = socket.recv_fds(control, 1, 4)
        except InterruptedError:
            continue
        if not message:
            return None
        if message == b"b":
            if os.fork() == 0:
                control.close()
                control = _branch(*descriptors)
            else:
                os.close(*descriptors)
            continue
        if os.fork() == 0:
            control.close()
            program = _keep(*descriptors)
            if program is not None:
                return program
            os._exit(0)
        for descriptor in descriptors:
            os.close(descriptor)


def _branch(descriptor: int) -> socket.socket:
    """Run the code of a request in this fork, and return the socket on which it serves from now on."""
    process_tree.control(process_tree.PARENT_DEATH_SIGNAL, signal.SIGKILL)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # the code may start processes and wait for them
    control = socket.socket(fileno=descriptor)
    control.set_inheritable(False)
    line = b""
    while not line.endswith(b"\n"):
        data = control.recv(1 << 16)
        if not data:
            os._exit(0)
        line += data
    request = json.loads(line)
    try:
        exec(compile(request["code"], "<branch>", "exec"), {"__name__": "branch", **request["given"]})
        _report_ready(control)
    except BaseException as error:
        _report_error(control, error)
        os._exit(1)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    return control


def _report_ready(control: socket.socket) -> None:
    gc.collect()
    gc.freeze()
    others = [name for name in sys.modules if name.partition(".")[0] not in _LEFT_OUT]
    control.sendall(json.dumps({"error": "", "modules": others}).encode() + b"\n")


def _report_error(control: socket.socket, error: BaseException) -> None:
    with contextlib.suppress(OSError):
        text = f"{type(error).__name__}: {error}"[:2000]
        control.sendall(json.dumps({"error": text, "modules": []}).encode() + b"\n")


def _keep(
    connection: int, out: int, err: int, children: int | None = None
) -> tuple[dict[str, object], int, int] | None:
    """Fork the program, wait for its end or the connection's, clean up, and respond; returns in the program itself."""
    process_tree.control(process_tree.PARENT_DEATH_SIGNAL, signal.SIGKILL)
    process_tree.control(process_tree.SUBREAPER, 1)
    line = b""
    while not line.endswith(b"\n"):
        data = os.read(connection, 1 << 16)
        if not data:
            return None
        line += data
    wake, awaken = os.pipe()
    os.set_blocking(awaken, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    old = signal.set_wakeup_fd(awaken, warn_on_full_buffer=False)
    began = time.monotonic()
    supervisor = os.getpid()
    program = os.fork()
    if program == 0:
        signal.set_wakeup_fd(old)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        process_tree.control(process_tree.PARENT_DEATH_SIGNAL, signal.SIGKILL)
        if os.getppid() != supervisor:
            os._exit(127)
        for descriptor in (connection, wake, awaken):
            os.close(descriptor)
        return {**json.loads(line), "children": children}, out, err
    for descriptor in (out, err, *([] if children is None else [children])):
        os.close(descriptor)
    ended: dict[int, int] = {}
    while program not in ended:
        ready, _, _ = select.select([connection, wake], [], [])
        if connection in ready:
            break
        os.read(wake, 4096)
        process_tree.reap(ended)
    seconds = time.monotonic() - began
    process_tree.sweep(program, ended)
    status = ended.get(program, signal.SIGKILL)
    ending = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"exit {os.WEXITSTATUS(status)}"
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    with contextlib.suppress(OSError):
        os.write(connection, f"{ending} {seconds:.6f} {used.ru_utime + used.ru_stime:.6f}\n".encode())
    return None


def _prepare(modules: list[str]) -> None:
    """Import what programs will import, and the probe; enter no world and draw no random number."""
    for name in modules:
        importlib.import_module(name)
    spec = importlib.util.spec_from_file_location(
        "devfix probe", os.path.join(_PACKAGE, "__init__.py"), submodule_search_locations=[_PACKAGE]
    )
    assert spec is not None and spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules["devfix probe"] = package
    spec.loader.exec_module(package)
    importlib.import_module("devfix probe.prefork.child")
    importlib.import_module("devfix probe.session.shutdown")
    if "torch" in sys.modules:
        importlib.import_module("devfix probe.session.bootstrap")
        simulation = "devfix probe.simulation"
        importlib.import_module(f"{simulation}.operator_tables.policy").blocks()  # else read at a failure
        importlib.import_module(f"{simulation}.patches.tensors.identities").index()


def main() -> int:
    """Prepare, report readiness, serve; return the exit code of a program in its own process."""
    paths = _paths(dict(os.environ))
    control = socket.socket(fileno=int(sys.argv[1]))
    control.set_inheritable(False)
    gc.disable()  # what is imported stays
    try:
        _prepare(sys.argv[2:])
    except BaseException as error:
        _report_error(control, error)
        return 1
    _report_ready(control)
    program = serve(control)
    if program is None:
        return 0
    gc.enable()
    before = frozenset(sys.modules)
    code = sys.modules["devfix probe.prefork.child"].become(*program, paths)
    return int(sys.modules["devfix probe.session.shutdown"].leave(before, code))


if __name__ == "__main__":
    sys.exit(main())
