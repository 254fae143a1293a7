"""Recurrent networks, which cuDNN runs as a whole: it compares the dtypes of all tensors before it begins."""

from __future__ import annotations

from typing import Any

import torch

from ... import hooks
from ...operator_tables.dtypes import SCALARS
from ...patching import overridden, wrap
from ...tensors.tensor import Tensor


def _comparing(original: Any) -> Any:
    def call(source: Any, second: Any, third: Any, *rest: Any, **kwargs: Any) -> Any:
        if isinstance(source, Tensor) and source._devfix_gpu >= 0 and not overridden(source):
            # A packed sequence has its batch sizes in the second place.
            states, weights = (second, third) if isinstance(third, (list, tuple)) else (third, rest[0] if rest else ())
            _compare(source, states, weights)
        return original(source, second, third, *rest, **kwargs)

    return call


def _compare(source: Any, states: Any, weights: Any) -> None:
    """Raise what `check_attributes` in ATen/native/RNN.h does where cuDNN calls it; autocast has cast all before."""
    if not torch.backends.cudnn.enabled or torch.is_autocast_enabled("cuda"):
        return
    for name, given in (("hidden", states), ("parameter", weights)):
        for item in given if isinstance(given, (list, tuple)) else (given,):
            if not isinstance(item, Tensor) or item.dtype is source.dtype or item.device != source.device:
                continue
            found = f"found input tensor with {SCALARS[source.dtype]} and {name} tensor with {SCALARS[item.dtype]}"
            error = RuntimeError(f"Input and {name} tensors are not the same dtype, {found}")
            hooks.failed(error, "torch.lstm", (source, item), {})
            raise error


def install() -> None:
    """Patch the functions, which torch.nn finds under another name."""
    for name in ("lstm", "gru"):
        wrap(torch, name, _comparing)
