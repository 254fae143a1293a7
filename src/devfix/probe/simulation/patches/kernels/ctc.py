"""ctc_loss: CUDA reads lengths of any device, and divides by those of the host where cuDNN computes the losses."""

from __future__ import annotations

from typing import Any

import torch

from ...accelerators import kinds
from ...patching import overridden, wrap
from ...tensors.tensor import Tensor

MEAN = 1  # at::Reduction::Mean
LONGEST = 256  # cuDNN's targets are shorter


def _ctc_loss(original: Any) -> Any:
    def ctc_loss(
        log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any,
        blank: int = 0, reduction: int = MEAN, zero_infinity: bool = False,
    ) -> Any:  # fmt: skip
        lengths = (input_lengths, target_lengths)
        if any(map(overridden, (log_probs, targets, *lengths))):
            return original(log_probs, targets, *lengths, blank, reduction, zero_infinity)
        as_numbers = map(_as_numbers, lengths)  # C++ reads plain tensors on any device
        if reduction == MEAN and _is_for_cudnn(log_probs, targets, *lengths, blank):
            # ATen/native/LossCTC.cpp leaves the lengths where they are; cuDNN gets copies of them on the GPU since 2.8,
            # and failed before: https://github.com/pytorch/pytorch/issues/152421
            losses = original(log_probs, targets, *as_numbers, blank, 0, zero_infinity)
            return (losses / target_lengths.clamp_min(1)).mean()
        return original(log_probs, targets, *as_numbers, blank, reduction, zero_infinity)

    return ctc_loss


def _as_numbers(lengths: Any) -> Any:
    return lengths.flatten().tolist() if isinstance(lengths, Tensor) and not lengths.is_floating_point() else lengths


def _is_for_cudnn(log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, blank: int) -> bool:
    """Decide as `_use_cudnn_ctc_loss_tensor` of ATen/native/cudnn/LossCTC.cpp does."""
    both = (input_lengths, target_lengths)
    if not all(isinstance(each, Tensor) for each in (log_probs, targets, *both)) or log_probs._devfix_gpu < 0:
        return False
    fits = log_probs.dim() == 3 and targets.dim() == 1 and log_probs.dtype is torch.float32 and targets.is_contiguous()
    if not fits or blank != 0 or any(each.dtype is not torch.int32 for each in (targets, *both)):
        return False
    if not (kinds.now().is_cuda and torch.backends.cudnn.enabled):
        return False
    inputs, lengths = map(_as_numbers, both)
    return all(length < LONGEST and length <= long for length, long in zip(lengths, inputs, strict=False))


def install() -> None:
    """Patch the loss."""
    wrap(torch, "ctc_loss", _ctc_loss)
