"""New threads join the world: dispatch modes are per thread, and so is CUDA's current device."""

from __future__ import annotations

import threading
from typing import Any

from .. import modes
from ..patching import wrap


def _bootstrap(original: Any) -> Any:
    def run(self: Any) -> Any:
        modes.join_world()
        return original(self)

    return run


def install() -> None:
    """Let every thread of `threading` join before its first line runs."""
    wrap(threading.Thread, "_bootstrap_inner", _bootstrap)
