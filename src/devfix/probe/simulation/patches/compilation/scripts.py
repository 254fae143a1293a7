"""Scripted modules: C++ stores their tensors itself, and saves and loads them outside of the dispatcher."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from ... import archives
from ...accelerators import devices, kinds
from ...patching import replace, wrap
from . import scripting


def _keep_parameters(original: Any) -> Any:
    def _apply(self: Any, fn: Any, recurse: bool = True) -> Any:
        before = dict(self._parameters.items())
        result = original(self, fn, recurse)
        for name, parameter in before.items():
            self._c.setattr(name, parameter)  # the same object, whose C++ side may have changed
        return result

    return _apply


def _gpus(module: Any) -> set[int]:
    constants = (tensor for _, tensor in _constants(module))
    return {tensor._devfix_gpu for tensor in (*module.parameters(), *module.buffers(), *constants)}


def _constants(module: Any) -> list[tuple[Any, Any]]:
    """List the nodes of a frozen module's graphs that hold tensors, with the tensors."""
    if any(True for _ in module.parameters()):
        return []
    parts = [part._c for part in module.modules() if hasattr(part, "_c")]
    blocks = [part._get_method(name).graph for part in parts for name in part._method_names()]
    found = []
    while blocks:
        for node in blocks.pop().nodes():
            blocks.extend(node.blocks())
            if node.kind() == "prim::Constant" and node.hasAttribute("value") and node.kindOf("value") == "t":
                found.append((node, node.t("value")))
    return found


@contextmanager
def _on_host(module: Any) -> Iterator[None]:
    """Let a module temporarily hold the values of its simulated tensors."""
    kept = []
    constants = _constants(module)
    try:
        for node, tensor in constants:
            node.t_("value", tensor._devfix_held if tensor._devfix_gpu >= 0 else tensor)
        for part in module.modules():
            for name, tensor in (*part._parameters.items(), *part._buffers.items()):
                if tensor is not None and tensor._devfix_gpu >= 0:
                    kept.append((part, name, tensor))
                    part._c.setattr(name, tensor._devfix_held.detach().requires_grad_(tensor.requires_grad))
        yield
    finally:
        for node, tensor in constants:
            node.t_("value", tensor)
        for part, name, tensor in kept:
            part._c.setattr(name, tensor)


def _buffer(original: Any) -> Any:
    def save_to_buffer(self: Any, *args: Any, **kwargs: Any) -> bytes:
        gpus = _gpus(self)
        if max(gpus, default=-1) < 0:
            scripting.as_written(module=self._c)
            written: bytes = original(self, *args, **kwargs)
            return written
        if len(gpus) > 1:
            raise NotImplementedError("a script on several devices cannot be saved on simulated GPUs: move it to one")
        with _on_host(self):
            scripting.as_written(module=self._c)
            written = original(self, *args, **kwargs)
        return archives.move_archive(written, f"{kinds.now().name}:{gpus.pop()}", frozen=bool(_constants(self)))

    return save_to_buffer


def _save(original: Any) -> Any:
    def save(self: Any, f: Any, **kwargs: Any) -> Any:
        if max(_gpus(self), default=-1) < 0:
            scripting.as_written(module=self._c)
            return original(self, f, **kwargs)
        with open(f, "wb") as file:
            file.write(self.save_to_buffer(**kwargs))

    return save


def _load(original: Any) -> Any:
    def load(f: Any, map_location: Any = None, *args: Any, **kwargs: Any) -> Any:
        if isinstance(f, (str, os.PathLike)):
            if not os.path.isfile(f):
                return original(f, map_location, *args, **kwargs)  # raises the error
            with open(f, "rb") as file:
                data = file.read()
        else:
            data = f.read()
        place = archives.device(data) if map_location is None else map_location
        torch.jit._serialization.validate_map_location(map_location)
        index = devices.index_named(place)
        if index is None:
            return original(io.BytesIO(data), map_location, *args, **kwargs)
        module = original(io.BytesIO(data), "cpu", *args, **kwargs).to(devices.SHOWN[index])
        for node, tensor in _constants(module):
            node.t_("value", tensor.to(devices.SHOWN[index]))
        return module

    return load


def install() -> None:
    """Patch scripted modules."""
    wrap(torch.jit.ScriptModule, "_apply", _keep_parameters)
    for kind in (torch.jit._script.RecursiveScriptModule, torch.jit.ScriptModule):  # the latter has copies, for traces
        wrap(kind, "save_to_buffer", _buffer)
        wrap(kind, "save", _save)
    wrap(torch.jit, "load", _load)
    replace(torch.jit._serialization, "load", torch.jit.load)
