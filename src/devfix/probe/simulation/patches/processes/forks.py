"""A forked child must not use CUDA, or XPU, once its parent has."""

from __future__ import annotations

import os
from typing import Any

import torch

from ...accelerators import devices, kinds
from ...patching import replace


class _Watch:
    begun = False


def install() -> None:
    """Watch for forks, and report in the module of the kind of device whether it is in use."""
    if not _Watch.begun and hasattr(os, "register_at_fork"):
        _Watch.begun = True
        os.register_at_fork(after_in_child=devices.after_fork)
    answers: dict[str, Any] = {
        "_lazy_init": devices.use,
        "init": devices.use,
        "is_initialized": devices.is_used,
        "_is_in_bad_fork": devices.forbidden,
    }
    module = getattr(torch, kinds.now().name)
    parts = (module, *(getattr(module, part, None) for part in ("memory", "random", "streams")))
    for name, answer in answers.items():
        for owner in parts:  # which have imported some of the names
            if owner is module or hasattr(owner, name):
                replace(owner, name, answer)
