"""Tensors passed to other processes: the values of a simulated tensor are shared, as CUDA shares its memory."""

from __future__ import annotations

import os
from multiprocessing.reduction import ForkingPickler
from typing import Any

import torch
from torch.multiprocessing import reductions

from ... import patching
from ...accelerators import devices, kinds, messages
from ...tensors import side_table
from ...tensors.tensor import Tensor, wrap

_Parameter = torch.nn.Parameter


def rebuild(held: torch.Tensor, gpu: int, kind: Any, requires_grad: bool) -> Any:
    """Recreate the tensor in the receiving process."""
    devices.use()
    made = wrap(held, devices.check_index(gpu)).requires_grad_(requires_grad)
    return side_table.become(made, kind)


def _reduce(tensor: Any) -> Any:
    if tensor._devfix_gpu < 0 or (tensor.requires_grad and not tensor.is_leaf):
        return reductions.reduce_tensor(tensor)  # it rejects the latter
    return rebuild, (tensor._devfix_held, tensor._devfix_gpu, type(tensor), tensor.requires_grad)


_LIMIT = b"\0"  # between the parts of a handle, which are paths
_IPC_BYTES = 64


def _share(original: Any) -> Any:
    """Return what another process needs to open a GPU's memory: `THPStorage_shareCuda` in StorageSharing.cpp."""

    def _share_cuda_(self: Any) -> tuple[Any, ...]:
        if self._devfix_gpu < 0:
            raise RuntimeError("_share_cuda_: only available on CUDA")
        if self._devfix_received:
            text = "Attempted to send CUDA tensor received from another process; this is not currently supported."
            raise RuntimeError(f"{text} Consider cloning before sending.")
        if not self.nbytes():
            return (self._devfix_gpu, None, 0, 0, None, 0, None, None)
        manager, name, size = _FILE(self)
        handle = _LIMIT.join((str(os.getpid()).encode(), manager, name))
        return (self._devfix_gpu, handle, size, 0, name, 0, bytes(_IPC_BYTES), True)

    return _share_cuda_


def _open(original: Any) -> Any:
    def _new_shared_cuda(device: int, handle: bytes, size: int, offset: int, *counters: Any) -> Any:
        devices.use()
        process, manager, name = handle.split(_LIMIT)
        if int(process) == os.getpid():  # the driver opens no handle in the process that made it
            raise messages.cuda_error("invalid device context", "cudaErrorDeviceUninitialized")
        made: Any = torch.UntypedStorage._new_shared_filename_cpu(manager, name, size)
        made._devfix_gpu, made._devfix_received = devices.check_index(device), True
        return made

    return staticmethod(_new_shared_cuda)


def _on_host(name: str) -> None:
    """Let a way to share the host's memory refuse a GPU's."""

    def make(original: Any) -> Any:
        def share(self: Any, *args: Any) -> Any:
            if self._devfix_gpu >= 0:
                raise RuntimeError(f"{name.removesuffix('cpu_')}: only available on CPU")
            return original(self, *args)

        return share

    patching.wrap(torch.UntypedStorage, name, make)


_FILE = torch.UntypedStorage._share_filename_cpu_


def install() -> None:
    """Register with multiprocessing's pickler; without simulated tensors this changes nothing."""
    if kinds.now().is_cuda:
        patching.replace(torch.UntypedStorage, "_devfix_received", False, add=True)
        patching.wrap(torch.UntypedStorage, "_share_cuda_", _share)
        patching.wrap(torch.UntypedStorage, "_new_shared_cuda", _open)
        patching.replace(torch.UntypedStorage, "_release_ipc_counter_cuda", staticmethod(lambda *args, **kwargs: None))
        _on_host("_share_filename_cpu_")
        _on_host("_share_fd_cpu_")
    for kind in (Tensor, _Parameter):
        ForkingPickler.register(kind, _reduce)
