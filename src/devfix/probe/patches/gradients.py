"""Gradients that a user's own autograd function gives back on the wrong device."""

from __future__ import annotations

from typing import Any

import torch

from .. import devices, hooks
from ..patching import wrap
from ..tensor import Tensor


def _checked(original: Any) -> Any:
    def apply(self: Any, *args: Any) -> Any:
        results = original(self, *args)
        listed = list(results) if isinstance(results, (tuple, list)) else [results]
        for place, (gradient, edge) in enumerate(zip(listed, self.next_functions)):  # noqa: B905 - may be shorter
            wanted = _device(edge)
            if not isinstance(gradient, Tensor) or wanted is None or gradient.device == wanted:
                continue
            if gradient.dim() == 0:
                listed[place] = gradient.to(wanted)
                continue
            error = RuntimeError(
                f"Function {type(self).__name__} returned an invalid gradient at index {place} - "
                f"expected device {wanted} but got {gradient.device}"
            )
            hooks.failed(error, "torch.autograd.Function.backward", (gradient,), {})
            raise error
        return tuple(listed) if isinstance(results, (tuple, list)) else listed[0]

    return apply


def _device(edge: Any) -> torch.device | None:
    node, place = edge
    metadata = getattr(node, "_input_metadata", None) if node is not None else None
    return devices.outer(metadata[place].device) if metadata and place < len(metadata) else None


def install() -> None:
    """Check what `backward` of a custom function gives back, which C++ leaves to subclasses of Tensor."""
    wrap(torch.autograd.function.BackwardCFunction, "apply", _checked)
