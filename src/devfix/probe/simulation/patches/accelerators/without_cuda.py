"""A machine with another kind of accelerator has a build without CUDA: replace what a build with CUDA says instead."""

from __future__ import annotations

from typing import Any

import torch

from ...patching import replace


def _refuse() -> None:
    raise AssertionError("Torch not compiled with CUDA enabled")


def install() -> None:
    """Patch what shows that a build has CUDA."""
    if torch.version.cuda is None:
        return
    replace(torch.version, "cuda", None)
    replace(torch.backends.cuda, "is_built", lambda: False)
    answers: dict[str, Any] = {
        "is_available": lambda: False,
        "device_count": lambda: 0,
        "_is_compiled": lambda: False,
        "_lazy_init": _refuse,
        "init": _refuse,
    }
    for name, answer in answers.items():
        replace(torch.cuda, name, answer)
