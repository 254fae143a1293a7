"""See which processes of a program use PyTorch; used by the supervisor, so it needs the standard library only.

Importing torch takes longer than the time between two looks, so no process that does it can be missed.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterable, Iterator

PERIOD = 0.1  # seconds between two looks
_LIBRARY = b"/libtorch_python"  # the library that is loaded by `import torch`, and not by programs in C++
_MOST = 200  # told of one program


class Witness:
    """Looks for processes that have loaded torch, where a probe is to be in every one of them."""

    def __init__(self) -> None:
        """Watch only where the environment orders a probe."""
        self._order = os.environ.get("DEVFIX_PROBE", "")
        self._entry = os.environ.get("PYTHONPATH", "").split(os.pathsep)[0]
        self._known: set[str] = set()
        self.next = time.monotonic() + PERIOD

    @property
    def wait(self) -> float | None:
        """The seconds until the next look; None where nothing is to be seen."""
        return max(0.0, self.next - time.monotonic()) if self._order else None

    def look(self, pids: Iterable[int]) -> Iterator[bytes]:
        """Yield a line for each program image that has loaded torch since the last look."""
        began = time.monotonic()
        for pid in pids:
            with contextlib.suppress(OSError, ValueError, IndexError):
                image = image_of(pid)
                if image and image not in self._known and len(self._known) < _MOST and _has_torch(pid):
                    self._known.add(image)
                    yield b"torch " + json.dumps({"pid": pid, "image": image, **self._told(pid)}).encode() + b"\n"
        # Where a look takes long (thousands of processes), looks are rarer, but never as rare as an import takes.
        self.next = time.monotonic() + max(PERIOD, min(0.5, 10 * (time.monotonic() - began)))

    def _told(self, pid: int) -> dict[str, object]:
        command = _strings(pid, "cmdline")
        given = dict(each.partition("=")[::2] for each in _strings(pid, "environ"))
        lacks = ["DEVFIX_PROBE"] if given.get("DEVFIX_PROBE") != self._order else []
        if self._entry not in given.get("PYTHONPATH", "").split(os.pathsep):
            lacks.append("PYTHONPATH")
        return {"command": [word[:100] for word in command[:12]], "lacks": lacks}


def image_of(pid: int) -> str:
    """Return what a process and its forks have in common, and no other started program; "" where it is not told.

    These are the places of the code, the stack, the arguments and the environment: the kernel chooses them by chance
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
