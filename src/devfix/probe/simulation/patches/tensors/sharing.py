"""Tensors passed to other processes: the values of a simulated tensor are shared, as CUDA shares its memory."""

from __future__ import annotations

from multiprocessing.reduction import ForkingPickler
from typing import Any

import torch
from torch.multiprocessing import reductions

from ...accelerators import devices
from ...tensors import side_table
from ...tensors.tensor import Tensor, wrap

_Parameter = torch.nn.Parameter


def rebuild(held: torch.Tensor, gpu: int, kind: Any, requires_grad: bool) -> Any:
    """Recreate the tensor in the receiving process."""
    devices.use()
    made = wrap(held, devices.checked(gpu)).requires_grad_(requires_grad)
    return side_table.become(made, kind)


def _reduce(tensor: Any) -> Any:
    if tensor._devfix_gpu < 0 or (tensor.requires_grad and not tensor.is_leaf):
        return reductions.reduce_tensor(tensor)  # it rejects the latter
    return rebuild, (tensor._devfix_held, tensor._devfix_gpu, type(tensor), tensor.requires_grad)


def install() -> None:
    """Register with multiprocessing's pickler; without simulated tensors this changes nothing."""
    for kind in (Tensor, _Parameter):
        ForkingPickler.register(kind, _reduce)
