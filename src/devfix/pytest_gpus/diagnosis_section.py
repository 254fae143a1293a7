"""A test's failure -> devfix's diagnosis, for the test's report: which tensors met, and where each was born."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from devfix.pytest_gpus.probe_bridge import probe
from devfix.pytest_gpus.world import Wanted

Lines = Callable[[str, int], str]


def trace_of(exception: BaseException) -> dict[str, Any] | None:
    """Return the trace that the probe writes of a test's exception; None where devices have no part in it."""
    here = probe("session.state_snapshot")
    trace: dict[str, Any] | None = None if here is None else here.failed_test(exception)
    return trace


def diagnosis(trace: dict[str, Any] | None, others: Iterable[Path], root: Path) -> str:
    """Return the diagnosis of a trace, else of the first failure that ended a process which the test had started.

    `others` are the traces of these. "" where no trace tells of a failure of devices.
    """
    from rich.console import Group

    from devfix.report.render.failure import failure_record
    from devfix.report.render.text import diagnosis as parts
    from devfix.report.render.text import render_text
    from devfix.trace import read_all

    with tempfile.TemporaryDirectory(prefix=f"devfix-traces-{os.getpid()}-") as name:
        folder = Path(name)
        if trace is not None:
            (folder / "0.json").write_text(json.dumps(trace, default=str), "utf-8", "backslashreplace")
        else:
            for path in others:
                shutil.copy(path, folder)
        traces, _ = read_all(folder, root, None)
    for each in traces:
        if each.failure is not None and each.failure.uncaught and each.failure.kind != "other":
            return render_text(Group(*parts(failure_record(each.failure, (), _lines(root)))), color=False, width=100)
    return ""


def advice(node: str, given: Sequence[str], wanted: Wanted) -> str:
    """Return how to repair what failed a test.

    `given` are the settings of a lifted run and the suite's own options, which may choose its device.
    """
    inner = shlex.join(["pytest", *(["--lift"] if wanted.lift else []), *given, node])
    # Quotes in quotes are hard to read, and nothing in the others means anything to a shell but these four.
    outer = f'"{inner}"' if "'" in inner and not set('"$`\\!') & set(inner) else shlex.quote(inner)
    command = f"devfix repair --run {outer}"
    device = "" if wanted.device == "cuda" else f" --world {wanted.device}"
    return f"To repair it: {command}{device}" + (f" --gpus {wanted.gpus}" if wanted.gpus > 1 else "") + "\n"


def _lines(root: Path) -> Lines:
    from devfix.report.render.source_lines import line_of

    def line(path: str, number: int) -> str:
        try:
            return line_of((root / path).read_bytes(), number)
        except OSError:
            return ""

    return line
