"""Detect which processes of a program use PyTorch; part of the supervisor, so it only uses the standard library.

Importing torch takes longer than the time between two checks, so no process is missed.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterable, Iterator

PERIOD = 0.1  # seconds between two checks
_LIBRARY = b"/libtorch_python"  # the library that `import torch` loads, and that C++ programs do not load
_MOST = 200  # reported for one program


class Witness:
    """Detects processes that have loaded torch, if every process is to have a probe."""

    def __init__(self) -> None:
        """Watch only if the environment requests a probe."""
        self._order = os.environ.get("DEVFIX_PROBE", "")
        self._entry = os.environ.get("PYTHONPATH", "").split(os.pathsep)[0]
        self._known: set[str] = set()
        self.next = time.monotonic() + PERIOD

    @property
    def wait(self) -> float | None:
        """Return the seconds until the next check; None if there is nothing to detect."""
        return max(0.0, self.next - time.monotonic()) if self._order else None

    def look(self, pids: Iterable[int]) -> Iterator[bytes]:
        """Yield a line for each program image that has loaded torch since the last check."""
        began = time.monotonic()
        for pid in pids:
            with contextlib.suppress(OSError, ValueError, IndexError):
                image = image_of(pid)
                if image and image not in self._known and len(self._known) < _MOST and _has_torch(pid):
                    self._known.add(image)
                    yield b"torch " + json.dumps({"pid": pid, "image": image, **self._report(pid)}).encode() + b"\n"
        # If a check takes long (thousands of processes), checks are rarer, but never as rare as an import takes.
        self.next = time.monotonic() + max(PERIOD, min(0.5, 10 * (time.monotonic() - began)))

    def _report(self, pid: int) -> dict[str, object]:
        command = _strings(pid, "cmdline")
        given = dict(each.partition("=")[::2] for each in _strings(pid, "environ"))
        lacks = ["DEVFIX_PROBE"] if given.get("DEVFIX_PROBE") != self._order else []
        if self._entry not in given.get("PYTHONPATH", "").split(os.pathsep):
            lacks.append("PYTHONPATH")
        return {"command": [word[:100] for word in command[:12]], "lacks": lacks}


def image_of(pid: int) -> str:
    """Return an id that a process shares with its forks and with no other started program; "" if unavailable.

    It consists of the addresses of the code, the stack, the arguments and the environment, which the kernel randomizes
    when a program is started.
    """
    with open(f"/proc/{pid}/stat", "rb") as file:
        fields = file.read().rpartition(b")")[2].split()
    numbers = [fields[index].decode() for index in (23, 25, 45, 47)]
    return "" if int(numbers[1]) < 4096 else ":".join(numbers)


def _has_torch(pid: int) -> bool:
    with open(f"/proc/{pid}/maps", "rb") as file:
        return _LIBRARY in file.read()


def _strings(pid: int, name: str) -> list[str]:
    with contextlib.suppress(OSError), open(f"/proc/{pid}/{name}", "rb") as file:
        return [os.fsdecode(each) for each in file.read(1_000_000).split(b"\0") if each]
    return []
