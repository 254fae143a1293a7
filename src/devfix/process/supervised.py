"""Start programs below a supervisor; the only place that starts processes."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

from devfix.process.limits import ResourceLimits
from devfix.process.tempdirs import remove

_SUPERVISOR = Path(__file__).with_name("supervisor.py")
GRACE = 60.0  # seconds for the supervisor to end everything; it gives up ten seconds after the last process ended


class SupervisedProcess:
    """A running program; leaving the `with` block ends every process that it has started.

    `stdout` and `stderr` are the descriptors to read from; `status` closes when everything has ended. Raises OSError or
    ValueError if the supervisor cannot start (no such folder); a command that cannot start is reported in `status`.
    """

    def __init__(
        self,
        command: Sequence[str],
        cwd: Path,
        environment: Mapping[str, str],
        stdin: int = subprocess.DEVNULL,
        pass_fds: Sequence[int] = (),
        read_only: Sequence[Path] = (),
        through: bool = False,
        limits: ResourceLimits | None = None,
    ) -> None:
        """Start the command below a supervisor, with exactly this environment.

        `read_only` are paths it cannot change: writes are lost at its end, or rejected if the system supports no
        overlay. With `through` it has this process's own input and output. It is ended if it exceeds `limits`.
        """
        if not command:
            raise ValueError("the command is empty")
        self._written = tempfile.mkdtemp(prefix=f"devfix-written-{os.getpid()}-") if read_only else ""
        life, self._life = os.pipe()
        self.status, status = os.pipe()
        supervisor = [sys.executable, "-I", "-S", str(_SUPERVISOR), str(life), str(status)]
        bounds = limits or ResourceLimits()
        numbers = (bounds.memory, bounds.processes, bounds.file_size, bounds.reserve, bounds.disk)
        limits_text = ",".join(map(str, numbers))
        supervisor += [
            environment.get("LC_CTYPE", ""),
            limits_text,
            str(len(read_only)),
            self._written,
            *map(str, read_only),
        ]
        try:
            self.supervisor = subprocess.Popen(
                [*supervisor, *command],
                cwd=cwd,
                env=dict(environment),
                stdin=None if through else stdin,
                stdout=None if through else subprocess.PIPE,
                stderr=None if through else subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
                pass_fds=(life, status, *pass_fds),
            )
        except BaseException:
            os.close(self._life)
            os.close(self.status)
            self._forget()
            raise
        finally:
            os.close(life)
            os.close(status)
        self.stdin = self.supervisor.stdin
        # With `through` there is nothing to read; -1 - n stands for a missing descriptor.
        self.stdout = self.supervisor.stdout.fileno() if self.supervisor.stdout else -1
        self.stderr = self.supervisor.stderr.fileno() if self.supervisor.stderr else -2

    def interrupt(self) -> None:
        """Interrupt the program and what it has started, as Ctrl-C in its terminal would; return at once."""
        if self._life >= 0:
            with contextlib.suppress(BrokenPipeError):  # the supervisor was killed
                os.write(self._life, b"i")

    def stop(self) -> None:
        """Request that every process of the program is ended; return at once."""
        if self._life >= 0:
            os.close(self._life)
            self._life = -1

    def __enter__(self) -> SupervisedProcess:
        """Return the program itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End every process and close all descriptors."""
        self.stop()
        try:
            self.supervisor.wait(GRACE)
        except subprocess.TimeoutExpired:
            pass
        finally:
            self.supervisor.kill()
            self.supervisor.wait()
            os.close(self.status)
            for stream in (self.supervisor.stdin, self.supervisor.stdout, self.supervisor.stderr):
                if stream is not None:
                    stream.close()
            self._forget()

    def _forget(self) -> None:
        if self._written:
            remove(Path(self._written))
