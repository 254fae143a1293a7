"""A test's failure -> devfix's diagnosis, for the test's report: which tensors met, and where each was created."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from devfix.pytest_gpus.probe_bridge import probe
from devfix.pytest_gpus.world import Wanted

if TYPE_CHECKING:
    from devfix.model import Failure

Lines = Callable[[str, int], str]


def trace_of(exception: BaseException) -> dict[str, Any] | None:
    """Return the trace that the probe writes of a test's exception; None where devices have no part in it."""
    here = probe("session.state_snapshot")
    trace: dict[str, Any] | None = None if here is None else here.failed_test(exception)
    return trace


def device_failure(trace: dict[str, Any] | None, others: Iterable[Path], root: Path) -> Failure | None:
    """Return the device failure of a trace, else the first that ended a process which the test had started.

    `others` are the traces of these. None where no trace tells of a failure of devices.
    """
    from devfix.trace import read_all

    with tempfile.TemporaryDirectory(prefix=f"devfix-traces-{os.getpid()}-") as name:
        folder = Path(name)
        if trace is not None:
            (folder / "0.json").write_text(json.dumps(trace, default=str), "utf-8", "backslashreplace")
        else:
            for path in others:
                shutil.copy(path, folder)
        traces, _ = read_all(folder, root, None)
    failures = (each.failure for each in traces if each.failure is not None and each.failure.uncaught)
    return next((failure for failure in failures if failure.kind != "other"), None)


def diagnosis(failure: Failure, root: Path, folder: Path) -> str:
    """Return the diagnosis of a failure as text, with paths relative to the folder in which pytest was started."""
    from rich.console import Group

    from devfix.report.failure_record import failure_record, seen_from
    from devfix.report.render.terminal.text import diagnosis as parts
    from devfix.report.render.terminal.text import render_text

    record = seen_from(failure_record(failure, (), lines(root)), os.path.relpath(folder, root))
    return render_text(Group(*parts(record)), color=False, width=100)


def node_from(node: str, root: Path, folder: Path) -> str:
    """Return the id of a test, which is relative to the root of the suite, as it is said in another folder."""
    path, colons, rest = node.partition("::")
    return Path(os.path.relpath(root / path, folder)).as_posix() + colons + rest


def repair_command(node: str, given: Sequence[str], wanted: Wanted) -> str:
    """Return the command that repairs what failed a test.

    `given` are the settings of a lifted run and the suite's own options, which may choose its device.
    """
    inner = shlex.join(["pytest", *(["--lift"] if wanted.lift else []), *given, node])
    # Quotes in quotes are hard to read, and nothing in the others means anything to a shell but these four.
    outer = f'"{inner}"' if "'" in inner and not set('"$`\\!') & set(inner) else shlex.quote(inner)
    device = "" if wanted.device == "cuda" else f" --world {'real' if wanted.kind == 'real' else wanted.device}"
    return f"devfix repair --run {outer}{device}" + (f" --gpus {wanted.gpus}" if wanted.gpus > 1 else "")


def lines(root: Path) -> Lines:
    """Return what gives the lines of the suite's files."""
    from devfix.report.source_lines import line_of

    def line(path: str, number: int) -> str:
        try:
            return line_of((root / path).read_bytes(), number)
        except OSError:
            return ""

    return line
