"""`DataParallel` and its communication: builds without CUDA lack the C++ functions that scatter and gather."""

from __future__ import annotations

from typing import Any

import torch
import torch.cuda.nccl

from ...accelerators import devices
from ...patching import replace


def _place(device: int) -> torch.device:
    return devices.CPU if device < 0 else devices.SHOWN[devices.checked(device)]


def scatter(tensor: Any, gpus: Any, chunk_sizes: Any = None, dim: int = 0, streams: Any = None) -> Any:
    """Split a tensor into pieces, one for each GPU."""
    pieces = tensor.chunk(len(gpus), dim) if chunk_sizes is None else tensor.split(list(chunk_sizes), dim)
    return tuple(piece.to(_place(gpu)) for piece, gpu in zip(pieces, gpus))  # noqa: B905 - fewer rows than GPUs


def gather(tensors: Any, dim: int, destination: Any) -> Any:
    """Join the pieces on one device."""
    place = devices.CPU if destination is None else _place(destination)
    return torch.cat([tensor.to(place) for tensor in tensors], dim)


def broadcast(tensor: Any, gpus: Any) -> Any:
    """Copy a tensor to each GPU."""
    return [tensor.to(_place(gpu)) for gpu in gpus]


def broadcast_coalesced(tensors: Any, gpus: Any, buffer_size: int = 0) -> Any:
    """Copy many tensors to each GPU: a list for each."""
    return [[tensor.to(_place(gpu)) for tensor in tensors] for gpu in gpus]


def install() -> None:
    """Replace the C++ functions."""
    functions = {
        "_scatter": scatter,
        "_gather": gather,
        "_broadcast": broadcast,
        "_broadcast_coalesced": broadcast_coalesced,
    }
    for name, function in functions.items():
        replace(torch._C, name, function, add=True)
    # CUDA builds have NCCL, which would accept tensors that claim to be on a GPU.
