"""New threads join the world: dispatch modes are per thread, and so is CUDA's current device."""

from __future__ import annotations

import threading
from typing import Any

from .. import modes
from ..patching import wrap


def _bootstrap(original: Any) -> Any:
    def run(self: Any) -> Any:
        modes.join_world()
        try:
            return original(self)
        finally:
            # Else the mode is let go when the thread has ended, maybe after the interpreter: the process is aborted.
            modes.leave_world()

    return run


def install() -> None:
    """Let every thread of `threading` join before its first line runs."""
    wrap(threading.Thread, "_bootstrap_inner", _bootstrap)
