"""Find the argument of a library function for which an operator's own temporary stands.

`binary_cross_entropy_with_logits` fails at `1 - target`, which no code of the program has made or can move. What it was
given is a local variable of the library's function that called it, also where the program's code has no name for it.
"""

from __future__ import annotations

from types import FrameType
from typing import Any

import torch

from ..provenance import places
from ..simulation.tensors.tensor import sizes
from . import histories
from .members import is_a


def argument_for(tensor: Any, described: list[dict[str, Any]], frames: list[FrameType]) -> tuple[str, Any] | None:
    """Return the name and the tensor of which the failing operator computed a temporary; None if it is none.

    `described` are the frames as the trace has them. A function of PyTorch's must be the last one.
    """
    outside = [number for number, each in enumerate(frames) if places.kind_of(each.f_code) != places.TORCH]
    if not outside or outside[-1] == len(frames) - 1:
        return None
    steps, called = histories.history(tensor), described[outside[-1]]["place"]
    if not steps or any(each["places"][:1] != [called] for each in steps):
        return None
    known = [(name, each) for name, each in frames[-1].f_locals.items() if is_a(each, torch.Tensor)]
    if any(each is tensor for _, each in known):
        return None
    alike = [each for each in known if each[1].device == tensor.device and sizes(each[1]) == sizes(tensor)]
    return alike[0] if len(alike) == 1 else None
