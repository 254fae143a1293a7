"""ctc_loss: CUDA accepts lengths on any device; emulate that for simulated tensors."""

from __future__ import annotations

from typing import Any

import torch

from ...patching import overridden, wrap
from ...tensors.tensor import Tensor


def _ctc_loss(original: Any) -> Any:
    def ctc_loss(log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, *rest: Any, **more: Any) -> Any:
        lengths = (input_lengths, target_lengths)
        if any(map(overridden, (log_probs, targets, *lengths))):
            return original(log_probs, targets, *lengths, *rest, **more)
        if isinstance(log_probs, Tensor) and log_probs._devfix_gpu >= 0:
            lengths = (_on_host(input_lengths), _on_host(target_lengths))
        return original(log_probs, targets, *lengths, *rest, **more)

    return ctc_loss


def _on_host(lengths: Any) -> Any:
    return lengths.flatten().tolist() if isinstance(lengths, Tensor) and not lengths.is_floating_point() else lengths


def install() -> None:
    """Patch the loss."""
    wrap(torch, "ctc_loss", _ctc_loss)
