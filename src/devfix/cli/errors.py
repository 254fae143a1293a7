"""What is said when devfix could not do its work."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import platform
import sys
import tempfile
import traceback
from collections.abc import Sequence
from itertools import pairwise, takewhile
from pathlib import Path

from devfix.report.render.plain import one_line


def complaint(message: str, arguments: Sequence[str], log: str = "") -> None:
    """Say in one line on standard error what is wrong; with `--format json`, as a record on standard output too."""
    print("devfix: " + one_line(message, 2000), file=sys.stderr)
    arguments = list(takewhile(lambda word: word != "--", arguments))  # the rest is the command's own
    if "--format=json" in arguments or ("--format", "json") in pairwise(arguments):
        from devfix.report.record import failed
        from devfix.report.render.json import dump

        command = next((after for word, after in pairwise(arguments) if word == "--run"), "")
        print(dump(failed(command, message, log)), end="")


def usage_error(error: Exception) -> str | None:
    """Return what typer found wrong with the arguments, in one line; None where the error is none of typer's."""
    # Typer raised click's exceptions before it had its own; both have this method, and 2 as their exit code.
    told = getattr(error, "format_message", None)
    if told is None or getattr(error, "exit_code", None) != 2:
        return None
    command = getattr(getattr(error, "ctx", None), "command_path", "devfix")
    return f"{str(told()).rstrip('.')} ({command} --help tells more)"


def no_space(error: Exception) -> str | None:
    """Return what to do where a disk is full, in one line; None where the error is another."""
    full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
    if not full and "No space left on device" not in str(error):  # git says it, and so does what copies folders
        return None
    return f"No space left on device for temporary files in {tempfile.gettempdir()}: free some, or set TMPDIR"


def write_log(error: Exception, arguments: Sequence[str]) -> str:
    """Write everything a report of the fault needs into a file of its own; return its path, "" where none can be."""
    from devfix import __version__

    facts = {
        "devfix": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "arguments": list(arguments),
    }
    text = json.dumps(facts, indent=2) + "\n\n" + "".join(traceback.format_exception(error))
    home = str(Path.home())
    with contextlib.suppress(OSError):
        handle, path = tempfile.mkstemp(prefix="devfix-fault-", suffix=".log")
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text.replace(home, "~") if len(home) > 1 else text)
        return path
    return ""
