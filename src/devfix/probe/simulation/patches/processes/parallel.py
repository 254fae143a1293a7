"""`DataParallel` and its communication: builds without CUDA lack the C++ functions that scatter and gather."""

from __future__ import annotations

from typing import Any

import torch
import torch.cuda.nccl

from ...accelerators import devices
from ...patching import replace


def _place(device: int) -> torch.device:
    return devices.CPU if device < 0 else devices.SHOWN[devices.check_index(device)]


def scatter(tensor: Any, gpus: Any, chunk_sizes: Any = None, dim: int = 0, streams: Any = None) -> Any:
    """Split a tensor into pieces, one for each GPU. Raises what `scatter` in torch/csrc/cuda/comm.cpp raises."""
    if not gpus:
        raise RuntimeError("Expected at least one device to scatter to")
    if chunk_sizes is not None and len(chunk_sizes) != len(gpus):
        text = "Expected devices and chunk_sizes to be of same length, but got len(devices) = "
        raise RuntimeError(f"{text}{len(gpus)} and len(chunk_sizes) = {len(chunk_sizes)}")
    pieces = tensor.chunk(len(gpus), dim) if chunk_sizes is None else tensor.split(list(chunk_sizes), dim)
    places = [_place(gpu) for gpu in gpus]
    for index, stream in zip(range(len(pieces)), streams or ()):  # noqa: B905 - perhaps fewer rows than GPUs
        elsewhere = places[index] != tensor.device
        if elsewhere and stream is not None and stream.device_index != places[index].index:
            raise RuntimeError(
                f"Expected the device associated with the stream at index {index} (was {stream.device_index}) to match "
                f"the device supplied at that index (expected {places[index].index})"
            )
    return tuple(piece.to(place) for piece, place in zip(pieces, places))  # noqa: B905 - fewer rows than GPUs


def _check_on_gpu(output: Any, index: int) -> None:
    if not output.is_cuda:
        text = "Expected all output tensors to be CUDA tensors, but output tensor at index"
        raise RuntimeError(f"{text} {index} has device '{output.device}'")


def scatter_out(tensor: Any, out: Any, dim: int, streams: Any = None) -> Any:
    """Split a tensor into the given ones."""
    if not out:
        raise RuntimeError("Expected at least one output tensor to scatter to")
    for index, each in enumerate(out):
        _check_on_gpu(each, index)
        if each.dim() != tensor.dim() or _rest(each, dim) != _rest(tensor, dim):
            text = f"Output tensor at index {index} has incorrect shape: {list(each.shape)}. Expected same"
            raise RuntimeError(f"{text} shape except for scatter dim {dim} as the source tensor: {list(tensor.shape)}")
    total = sum(each.size(dim) for each in out)
    if total != tensor.size(dim):
        text = f"Total size for output tensors along scatter dim {dim} does not match the source tensor size at dim"
        raise RuntimeError(f"{text} {dim}. Expected {tensor.size(dim)}, but got total size {total}")
    for each, piece in zip(out, tensor.split([each.size(dim) for each in out], dim), strict=True):
        each.copy_(piece)
    return tuple(out)


def _rest(tensor: Any, dim: int) -> list[int]:
    sizes = list(tensor.shape)
    del sizes[dim]
    return sizes


def gather(tensors: Any, dim: int, destination: Any) -> Any:
    """Join the pieces on one device, the current GPU if none is named and the CPU for -1."""
    _check_gathered(tensors, dim, "{}")
    place = _place(devices.current() if destination is None else destination)
    return torch.cat([tensor.to(place) for tensor in tensors], dim)


def gather_out(tensors: Any, out: Any, dim: int) -> Any:
    """Join the pieces in a tensor."""
    _check_gathered(tensors, dim, "'{}'")
    expected = list(tensors[0].shape)
    expected[dim] = sum(tensor.size(dim) for tensor in tensors)
    if list(out.shape) != expected:
        raise RuntimeError(f"Expected out tensor to have shape {expected}, but got {list(out.shape)}")
    return out.copy_(torch.cat([tensor.to(out.device) for tensor in tensors], dim))


def _check_gathered(tensors: Any, dim: int, quoted: str) -> None:
    if not tensors:
        raise RuntimeError("Expected at least one tensor to gather from")
    first = tensors[0]
    for index, tensor in enumerate(tensors):
        if not tensor.is_cuda:
            text = "Expected all input tensors to be CUDA tensors, but tensor at index"
            raise RuntimeError(f"{text} {index} has device {quoted.format(tensor.device)}")
        if tensor.dim() != first.dim():
            text = "Expected all input tensors to have the same number of dimensions, but tensor at index"
            # Without a space between, as in torch/csrc/cuda/comm.cpp.
            raise RuntimeError(f"{text} {index}has {tensor.dim()} dimensions, (expected {first.dim()})")
        if _rest(tensor, dim) != _rest(first, dim):
            expected = list(first.shape)
            expected[dim] = tensor.size(dim)
            text = f"Input tensor at index {index} has invalid shape {list(tensor.shape)}, but expected"
            raise RuntimeError(f"{text} {expected}")


def broadcast(tensor: Any, gpus: Any) -> Any:
    """Copy a tensor to each GPU; where it is, it stays itself."""
    for gpu in gpus:
        if gpu < 0:
            raise RuntimeError(f"Expected non-negative device index, but got {gpu}")
    return [tensor.to(_place(gpu)) for gpu in gpus]


def broadcast_out(tensor: Any, out: Any) -> Any:
    """Copy a tensor to the given ones."""
    for index, each in enumerate(out):
        _check_on_gpu(each, index)
        if each.shape != tensor.shape:
            text = "Expected all output tensors to have same shape as the source tensor"
            found = f"but output tensor at index {index} has shape {list(each.shape)}"
            raise RuntimeError(f"{text} {list(tensor.shape)}, {found}")
        each.copy_(tensor)
    return tuple(out)


def broadcast_coalesced(tensors: Any, gpus: Any, buffer_size: int = 0) -> Any:
    """Copy many tensors to each GPU: a list for each, the first with the tensors themselves."""
    if any(not tensor.is_cuda or tensor.get_device() != gpus[0] for tensor in tensors):
        raise RuntimeError("All tensors must be on devices[0]: " + str(gpus[0]))
    return [list(tensors), *([tensor.detach().to(_place(gpu), copy=True) for tensor in tensors] for gpu in gpus[1:])]


def install() -> None:
    """Replace the C++ functions."""
    functions = {
        "_scatter": scatter,
        "_gather": gather,
        "_broadcast": broadcast,
        "_broadcast_out": broadcast_out,
        "_scatter_out": scatter_out,
        "_gather_out": gather_out,
        "_broadcast_coalesced": broadcast_coalesced,
    }
    for name, function in functions.items():
        replace(torch._C, name, function, add=True)
    # CUDA builds have NCCL, which would accept tensors that claim to be on a GPU.
