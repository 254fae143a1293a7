"""The real GPUs of the world, of whichever kind.

`torch.cuda` and `torch.xpu` have the same functions, `torch.mps` has few of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.backends.mps

from . import kinds


def _module() -> Any:
    return getattr(torch, kinds.now().name)


def _is_mps() -> bool:
    return kinds.now() is kinds.MPS


def is_available() -> bool:
    """Return whether there is one."""
    return bool((torch.backends.mps if _is_mps() else _module()).is_available())


def is_in_use() -> bool:
    """Return whether this process uses them; MPS does not tell, and counts as used where there is one."""
    return is_available() if _is_mps() else bool(_module().is_initialized())


def count() -> int:
    """Return how many there are."""
    return int(_module().device_count())


def current() -> int:
    """Return the index of the current one."""
    return 0 if _is_mps() else int(_module().current_device())


def make_current(index: int) -> None:
    """Make one the current one; there is only one of MPS."""
    if not _is_mps():
        _module().set_device(index)


def generators() -> Sequence[torch.Generator]:
    """Return the default generator of each; of those in use alone."""
    return [torch.mps._get_default_mps_generator()] if _is_mps() else list(_module().default_generators)


def forget_peaks() -> None:
    """Reset what is known of peaks of memory, where the kind counts them."""
    if not _is_mps():
        for gpu in range(count()):
            _module().reset_peak_memory_stats(gpu)
