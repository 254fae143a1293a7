"""Run a notebook as `jupyter execute` does, and print what its cells print. Run by the interpreter of the program.

usage: python run.py NOTEBOOK

The cells run in a kernel of ipykernel (`kernel.py`), one after the other, in the notebook's folder. An error ends it,
unless the cell has the tag `raises-exception`; cells with the tag `skip-execution` are left out. Nothing is written
into the notebook. The exit code is 1 after an error; the signal that killed the kernel kills this process too.
"""

from __future__ import annotations

import json
import os
import queue
import shutil
import signal
import sys
import tempfile
import time
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, TextIO

_HERE = Path(__file__).resolve().parent
_WAIT = 0.5  # seconds after which a kernel that says nothing is asked whether it lives
_READY = 0.02
_NEW = os.O_WRONLY | os.O_CREAT
_LOG = 20_000  # characters of what a dead kernel said
_LONGEST = 90  # characters of a path of sockets: the system allows 107


class _Kernel:
    """The process of the kernel, a fork of this one: what was imported before need not be imported again."""

    def __init__(self, process: int) -> None:
        self._process = process
        self._code: int | None = None

    def poll(self) -> int | None:
        """Return the exit code, or the negative number of the signal that ended it; None while it runs."""
        return self._exit_code(os.WNOHANG)

    def wait(self) -> int:
        """Wait for its end and return the code."""
        code = self._exit_code(0)
        assert code is not None
        return code

    def kill(self) -> None:
        """End it at once, if it has not ended."""
        if self.poll() is None:
            os.kill(self._process, signal.SIGKILL)
            self.wait()

    def _exit_code(self, options: int) -> int | None:
        if self._code is None:
            process, status = os.waitpid(self._process, options)
            if process:
                self._code = os.waitstatus_to_exitcode(status)
        return self._code


def main() -> int:
    """Run the notebook that the command line names."""
    notebook = Path(sys.argv[1]).resolve()
    folder = tempfile.mkdtemp(prefix="devfix-kernel-")
    connection, log = Path(folder, "connection.json"), Path(folder, "log")
    process = os.fork()
    if process == 0:
        return _become_kernel(notebook, connection, log, _transport(folder))
    kernel = _Kernel(process)
    try:
        if _is_ready(kernel, connection) and (code := _run(kernel, notebook, connection)) is not None:
            return code
        _write(sys.stderr, log.read_text("utf-8", "replace")[-_LOG:] if log.exists() else "")
        return _ended_as(kernel)
    finally:
        kernel.kill()
        shutil.rmtree(folder, ignore_errors=True)


def _become_kernel(notebook: Path, connection: Path, log: Path, options: list[str]) -> int:
    """Run the kernel in this process until it is asked to end."""
    # What cells write arrives as messages; ipykernel repeats it on the streams with which it was started.
    for path, flags, place in ((os.devnull, os.O_RDONLY, 0), (os.devnull, os.O_WRONLY, 1), (log, _NEW, 2)):
        descriptor = os.open(path, flags, 0o600)
        os.dup2(descriptor, place)
        os.close(descriptor)
    os.environ["IPYTHONDIR"] = str(connection.parent)  # neither history nor start-up files of the user
    os.environ["JPY_PARENT_PID"] = str(os.getppid())
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"
    os.chdir(notebook.parent)
    if sys.path and os.path.realpath(sys.path[0]) == str(_HERE):
        sys.path.pop(0)  # the kernel inserts the current folder
    spec = spec_from_file_location("devfix kernel", _HERE / "kernel.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    module.run(str(notebook), str(connection), options)
    return 0


def _transport(folder: str) -> list[str]:
    """Return the options for sockets that only this user can reach, if their path is not too long for the system."""
    path = str(Path(folder, "s"))
    return ["--transport=ipc", f"--ip={path}"] if len(path) < _LONGEST else []


def _is_ready(kernel: _Kernel, connection: Path) -> bool:
    """Wait for the kernel's connection file; return whether it wrote one."""
    while kernel.poll() is None:
        try:
            json.loads(connection.read_bytes())
            return True
        except (OSError, ValueError):
            time.sleep(_READY)
    return False


def _run(kernel: _Kernel, notebook: Path, connection: Path) -> int | None:
    """Run the cells; return the exit code, None if the kernel has died."""
    from jupyter_client.blocking.client import BlockingKernelClient

    client = BlockingKernelClient(connection_file=str(connection))
    client.load_connection_file()
    client.start_channels(hb=False)
    try:
        _await_messages(client, kernel)
        code = 0
        for source, tags in _cells(notebook):
            if "skip-execution" not in tags and source.strip():
                has_failed = _execute(client, kernel, source)
                if kernel.poll() is not None:
                    return None
                if has_failed and "raises-exception" not in tags:
                    code = 1
                    break
        client.shutdown()
        kernel.wait()  # what the program does at its end takes as long as it takes
        return code or (None if kernel.wait() else 0)
    finally:
        client.stop_channels()


def _await_messages(client: Any, kernel: _Kernel) -> None:
    """Wait until messages of the kernel arrive: those that it sends before the subscription is there are lost."""
    while kernel.poll() is None:
        client.kernel_info()
        try:
            client.get_iopub_msg(timeout=_WAIT)
            return
        except queue.Empty:
            continue


def _cells(notebook: Path) -> list[tuple[str, list[str]]]:
    cells = json.loads(notebook.read_text("utf-8-sig")).get("cells", [])
    return [
        ("".join(cell["source"]), list(cell.get("metadata", {}).get("tags", ())))
        for cell in cells
        if cell["cell_type"] == "code"
    ]


def _execute(client: Any, kernel: _Kernel, source: str) -> bool:
    """Run a cell to its end, or to the kernel's; return whether it showed an error."""
    asked = client.execute(source, store_history=True, allow_stdin=False)
    has_failed = False
    while True:
        try:
            message = client.get_iopub_msg(timeout=_WAIT)
        except queue.Empty:
            if kernel.poll() is not None:
                return True
            continue
        if message["parent_header"].get("msg_id") != asked:
            continue
        kind, content = message["header"]["msg_type"], message["content"]
        if kind == "status" and content["execution_state"] == "idle":
            break
        has_failed |= kind == "error"
        _show(kind, content)
    reply = _reply(client, kernel, asked)
    if reply.get("status") == "error" and not has_failed:  # before the cell ran: a magic that does not exist
        _show("error", reply)
        has_failed = True
    return has_failed


def _reply(client: Any, kernel: _Kernel, asked: str) -> dict[str, Any]:
    while kernel.poll() is None:
        try:
            message = client.get_shell_msg(timeout=_WAIT)
        except queue.Empty:
            continue
        if message["parent_header"].get("msg_id") == asked:
            return dict(message["content"])
    return {}


def _show(kind: str, content: dict[str, Any]) -> None:
    if kind == "stream":
        _write(sys.stderr if content["name"] == "stderr" else sys.stdout, content["text"])
    elif kind in ("execute_result", "display_data") and "text/plain" in content["data"]:
        _write(sys.stdout, content["data"]["text/plain"] + "\n")
    elif kind == "error":
        _write(sys.stderr, "\n".join(content["traceback"]).rstrip("\n") + "\n")


def _write(stream: TextIO, text: str) -> None:
    stream.write(text)
    stream.flush()


def _ended_as(kernel: _Kernel) -> int:
    """Return the exit code of a kernel, or end as it was ended."""
    code = kernel.wait()
    if code < 0:
        signal.signal(-code, signal.SIG_DFL) if -code not in (signal.SIGKILL, signal.SIGSTOP) else None
        os.kill(os.getpid(), -code)
    return code


if __name__ == "__main__":
    sys.exit(main())
