"""New threads join the world: dispatch modes are per thread, and so is CUDA's current device."""

from __future__ import annotations

import threading
from typing import Any

import torch._library.simple_registry as registry

from ... import modes
from ...dispatcher import dispatch
from ...patching import wrap


def _bootstrap(original: Any) -> Any:
    def run(self: Any) -> Any:
        modes.join_world()
        try:
            return original(self)
        finally:
            # Otherwise the mode is freed after the thread, perhaps after the interpreter, which aborts the process.
            modes.leave_world()

    return run


def _quick(original: Any) -> Any:
    """Return no rule: at each operator PyTorch looks up a Python rule of the mode's class, and the world's has none."""
    world = dispatch.World

    def find_torch_dispatch_rule(op: Any, torch_dispatch_class: Any) -> Any:
        return None if torch_dispatch_class is world else original(op, torch_dispatch_class)

    return find_torch_dispatch_rule


def install() -> None:
    """Let every thread of `threading` join before its first line runs."""
    wrap(threading.Thread, "_bootstrap_inner", _bootstrap)
    wrap(registry, "find_torch_dispatch_rule", _quick)
