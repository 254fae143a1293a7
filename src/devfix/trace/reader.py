"""The traces of a run -> records; what cannot be read is said in a list, never raised."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

from devfix.trace import values
from devfix.trace.records import Reader, TooMuch, Trace

SIZE_LIMIT = 16_000_000  # bytes; the largest honest trace seen has 2 MB, and JSON takes thirty times its size in memory
TOTAL_LIMIT = 64_000_000  # bytes of all traces of a run
TRACE_LIMIT = 4_000


def read_all(folder: Path, owned: Path, tracked: frozenset[str] | None) -> tuple[list[Trace], list[str]]:
    """Read every trace in `folder`; a frame is owned when its file lies in `owned` and is among `tracked`.

    `tracked` None: every file in `owned` counts, but for those of virtual environments.
    """
    traces: list[Trace] = []
    trouble: list[str] = []
    left = TOTAL_LIMIT
    for path in sorted(folder.glob("*.json"))[:TRACE_LIMIT]:
        try:
            data = _content(path, min(SIZE_LIMIT, left))
            left -= len(data)
            raw = json.loads(data)
            if not isinstance(raw, dict) or raw.get("schema") != "devfix-trace/1":
                raise ValueError("not a devfix-trace/1")
            traces.append(Reader(owned, tracked).trace(raw))
        except (OSError, ValueError, RecursionError, TooMuch) as error:
            if len(trouble) < 20:
                trouble.append(values.text(f"trace {path.name}: {error}", 300))
    return traces, trouble


def _content(path: Path, limit: int) -> bytes:
    # A pipe of that name would keep a reader waiting for ever, and a link could lead anywhere.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError("no regular file")
        data = file.read(limit + 1)
    if len(data) > limit:
        raise ValueError("larger than a trace can be")
    return data
