"""Error messages of the command line."""

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

from devfix.report.plain import one_line


def complaint(message: str, arguments: Sequence[str], log: str = "") -> None:
    """Print an error in one line on standard error; with `--format json`, as a record on standard output too."""
    print("devfix: " + one_line(message, 2000), file=sys.stderr)
    arguments = list(takewhile(lambda word: word != "--", arguments))  # the rest belongs to the command
    if "--format=json" in arguments or ("--format", "json") in pairwise(arguments):
        print(_as_json(message, arguments, log), end="")


def _as_json(message: str, arguments: Sequence[str], log: str) -> str:
    """Return the record of an error, as the command's schema has it."""
    from devfix.find.report import failed_search
    from devfix.report.record import failed_record
    from devfix.report.render.machine_readable.json import dump

    if arguments[:1] == ["find"]:
        return dump(failed_search(message, log))
    command = next((after for word, after in pairwise(arguments) if word == "--run"), "")
    return dump(failed_record(command, message, log))


def usage_error(error: Exception) -> str | None:
    """Return typer's message about wrong arguments in one line, None for any other error."""
    # Older versions of typer raise click's exceptions; both have this method, and 2 as their exit code.
    format_message = getattr(error, "format_message", None)
    if format_message is None or getattr(error, "exit_code", None) != 2:
        return None
    command = getattr(getattr(error, "ctx", None), "command_path", "devfix")
    return f"{str(format_message()).rstrip('.')} (see {command} --help)"


def no_space(error: Exception) -> str | None:
    """Return in one line what to do about a full disk, None for any other error."""
    full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
    if not full and "No space left on device" not in str(error):  # from git, and from copying folders
        return None
    return f"no space left on device for temporary files in {tempfile.gettempdir()}: free some, or set TMPDIR"


def no_current_folder(error: Exception) -> str | None:
    """Return in one line that the current folder was deleted, None for any other error."""
    if not isinstance(error, FileNotFoundError):
        return None
    try:
        os.getcwd()
    except FileNotFoundError:
        return "the current folder was deleted: change to one that exists"
    return None


def write_log(error: Exception, arguments: Sequence[str]) -> str:
    """Write what a bug report needs to a new file; return its path, "" if no file can be written."""
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
        handle, path = tempfile.mkstemp(prefix="devfix-error-", suffix=".log")
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text.replace(home, "~") if len(home) > 1 else text)
        return path
    return ""
