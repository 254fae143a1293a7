"""Start Ray on this machine, below a supervisor, so that nothing of it outlives the command."""

from __future__ import annotations

import os
import re
import secrets
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from devfix.errors import UserError
from devfix.process import BoundedOutput, SupervisedProcess, child_environment
from devfix.process.tempdirs import scratch_folder, temporary_folder
from devfix.report.plain import one_line

_LOOK = 0.1  # seconds between two looks whether Ray has started
_LONGEST = 40  # bytes of a folder's path, so that those of sockets in it have at most 107
_LOG = 100_000  # bytes of its output that are kept
# Ray's own processes would else tell its authors of each start, and write to the terminal.
_VARIABLES = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DISABLE_IMPORT_WARNING": "1",
    "PYTHONWARNINGS": "ignore",
    "RAY_worker_niceness": "0",  # else jobs starve beside whatever else the machine does
}


@contextmanager
def local_ray(cores: float | None) -> Iterator[str]:
    """Start Ray on this machine with a number of cores (None: all), yield its address, and end it at the end.

    Its processes see no variable with a credential. Only those who know a token of this run can talk to it, because a
    job with network could else have commands run outside of its sandbox. Raises UserError if it cannot start.
    """
    with _short_folder() as folder:
        token = folder / "token"
        token.touch(mode=0o600)
        token.write_text(secrets.token_hex(32))
        guarded = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(token)}
        words = [
            *("start", "--head", "--block", "--port", "0", "--node-ip-address", "127.0.0.1"),
            "--disable-usage-stats",
        ]
        words += ["--temp-dir", str(folder), "--include-log-monitor", "false", *_cores(cores)]
        words += ["--include-dashboard", "true", "--dashboard-host", "127.0.0.1", "--dashboard-port", str(_free_port())]
        words += ["--ray-client-server-port", str(_free_port())]  # another Ray may have the usual ones
        environment = {**child_environment(), **_VARIABLES, **guarded}
        command = [sys.executable, "-m", "ray.scripts.scripts", *words]
        with SupervisedProcess(command, Path("/"), environment) as ray, _environment(guarded):
            yield _Start(ray, folder / "ray_current_cluster").address()


@contextmanager
def _short_folder() -> Iterator[Path]:
    """Create a folder whose path leaves room for those of Ray's sockets, and remove it at the end."""
    with scratch_folder() as folder:
        if len(str(folder)) <= _LONGEST:
            yield folder
        else:
            with temporary_folder("ray", Path("/tmp")) as short:
                yield short


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def _cores(cores: float | None) -> list[str]:
    return [] if cores is None else ["--num-cpus", str(max(1, int(cores)))]


class _Start:
    """Reads what Ray prints, and waits until it has written its address to a file."""

    def __init__(self, ray: SupervisedProcess, file: Path) -> None:
        self._file, self._ended = file, threading.Event()
        self._output = BoundedOutput(_LOG)
        for stream in (ray.stdout, ray.stderr):
            threading.Thread(target=self._read, args=(stream, self._output), daemon=True).start()
        threading.Thread(target=self._read, args=(ray.status, BoundedOutput(_LOG), self._ended), daemon=True).start()

    def address(self) -> str:
        while not self._ended.wait(_LOOK):
            try:
                if address := self._file.read_text().strip():
                    return address
            except OSError:
                continue
        lines = [line for line in self._output.text().splitlines() if line.strip()]
        errors = [line for line in lines if re.match(r"\w*(?:Error|Exception)\b", line)]
        why = (errors or lines or ["it ended"])[-1]
        raise UserError(f"Ray cannot start on this machine: {one_line(why)}")

    @staticmethod
    def _read(stream: int, output: BoundedOutput, ended: threading.Event | None = None) -> None:
        try:
            while data := os.read(stream, 1 << 16):
                output.add(data)
        except OSError:  # closed by the end of the block
            pass
        if ended is not None:
            ended.set()


@contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    """Set variables of this process, which Ray's client reads."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
