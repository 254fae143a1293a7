"""New threads join the world: dispatch modes are per thread, and so is CUDA's current device."""

from __future__ import annotations

import threading
from typing import Any

import torch._library.simple_registry as registry

from ... import dispatch, modes
from ...patching import wrap


def _bootstrap(original: Any) -> Any:
    def run(self: Any) -> Any:
        modes.join_world()
        try:
            return original(self)
        finally:
            # Else the mode is let go when the thread has ended, maybe after the interpreter: the process is aborted.
            modes.leave_world()

    return run


def _quick(original: Any) -> Any:
    """PyTorch asks in Python, at each operator, for a rule of the mode's class; the world's has none."""
    world = dispatch.World

    def find_torch_dispatch_rule(op: Any, torch_dispatch_class: Any) -> Any:
        return None if torch_dispatch_class is world else original(op, torch_dispatch_class)

    return find_torch_dispatch_rule


def install() -> None:
    """Let every thread of `threading` join before its first line runs."""
    wrap(threading.Thread, "_bootstrap_inner", _bootstrap)
    wrap(registry, "find_torch_dispatch_rule", _quick)
