"""Have the simulation's hot paths compiled, in the background, for an interpreter that is about to run programs."""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

BUILD = Path(__file__).resolve().parents[1] / "probe" / "simulation" / "native" / "build.py"
SWITCH = "DEVFIX_NATIVE"
_seen: set[str] = set()


def compile_for(python: str, environment: Callable[[], Mapping[str, str]]) -> None:
    """Start the compiler for an interpreter, unless its file is in the cache; nothing waits, and nothing is reported.

    Not for programs in a sandbox, whose interpreter must not run outside of it.
    """
    if os.environ.get(SWITCH) or python in _seen:  # switched off, or a file was named
        return
    _seen.add(python)
    threading.Thread(target=_start, args=(python, environment), name="devfix-native", daemon=True).start()


def _start(python: str, environment: Callable[[], Mapping[str, str]]) -> None:
    quiet = subprocess.DEVNULL
    words = [python, "-IB", str(BUILD)]
    with contextlib.suppress(OSError, subprocess.SubprocessError):  # the simulation runs in Python then
        subprocess.run(words, stdin=quiet, stdout=quiet, stderr=quiet, env=environment(), timeout=60, check=False)
