"""Gradients on the wrong device: initial gradients of `backward`, and those of custom autograd functions."""

from __future__ import annotations

import functools
import weakref
from typing import Any

import torch

from ... import hooks
from ...accelerators import devices, kinds, messages
from ...patching import overridden, wrap
from ...tensors.tensor import Tensor


def _check_results(original: Any) -> Any:
    def apply(self: Any, *args: Any) -> Any:
        results = original(self, *args)
        listed = _match(self, results if isinstance(results, (tuple, list)) else [results])
        return tuple(listed) if isinstance(results, (tuple, list)) else listed[0]

    return apply


def _match(node: Any, gradients: Any) -> list[Any]:
    """Return the gradients of a node, those of no dimensions moved. Raises what `validate_outputs` does for others."""
    listed = list(gradients)
    for place, (gradient, edge) in enumerate(zip(listed, node.next_functions)):  # noqa: B905 - may be shorter
        wanted = _device(edge)
        if not isinstance(gradient, Tensor) or wanted is None or gradient.device == wanted:
            continue
        if gradient.dim() == 0:
            listed[place] = gradient.to(wanted)
            continue
        text = f"returned an invalid gradient at index {place} - expected device {wanted} but got {gradient.device}"
        error = RuntimeError(f"Function {node.name()} {text}")
        hooks.failed(error, "torch.autograd.Function.backward", (gradient,), {})
        raise error
    return listed


def _device(edge: Any) -> torch.device | None:
    node, place = edge
    metadata = getattr(node, "_input_metadata", None) if node is not None else None
    return devices.outer(metadata[place].device) if metadata and place < len(metadata) else None


def _check_initial(original: Any) -> Any:
    """Check the initial gradients of a backward pass, as the engine does for tensors that are not subclasses."""

    def run_backward(tensors: Any, gradients: Any = (), *args: Any, **kwargs: Any) -> Any:
        try:
            return original(tensors, _place(tensors, gradients), *args, **kwargs)
        except RuntimeError as error:
            if messages.translate(error):  # a check of the engine itself
                hooks.failed(error, "torch.autograd.backward", (*tensors, *gradients), {})
            raise

    return run_backward


def _hooking(original: Any) -> Any:
    """Check what a node makes of a gradient that a hook has moved to another GPU, which has the same type."""

    def register_hook(self: Any, hook: Any) -> Any:
        if overridden(self) or self._devfix_gpu < 0 or not callable(hook):
            return original(self, hook)
        watched = weakref.ref(self)

        @functools.wraps(hook)
        def called(gradient: Any) -> Any:
            result = hook(gradient)
            if isinstance(result, Tensor) and isinstance(gradient, Tensor) and result.device != gradient.device:
                tensor = watched()
                if tensor is not None and tensor.grad_fn is not None:
                    _watch(tensor.grad_fn)
            return result

        return original(self, called)

    return register_hook


def _watch(node: Any) -> None:
    """Check the next results of a node."""

    def check(results: Any, gradients: Any) -> None:
        handle.remove()
        _match(node, results)

    handle = node.register_hook(check)


def _place(tensors: Any, gradients: Any) -> Any:
    """Return the gradients on their tensors' devices: 0-dim ones are moved, others must be there already."""
    placed = list(gradients)
    for place, (tensor, gradient) in enumerate(zip(tensors, gradients)):  # noqa: B905 - as the engine
        if not (isinstance(tensor, Tensor) and isinstance(gradient, Tensor)) or tensor.device == gradient.device:
            continue
        # A transform's wrapper has its device in C++ alone.
        if kinds.now().name not in (tensor.device.type, gradient.device.type):
            continue
        if gradient.dim():
            text = f"expected device {tensor.device} but got {gradient.device}"
            error = RuntimeError(f"invalid gradient at index {place} - {text}")
            hooks.failed(error, "torch.autograd.backward", (tensor, gradient), {})
            raise error
        placed[place] = gradient.to(tensor.device)
    return tuple(placed)


def install() -> None:
    """Check gradients in Python, since C++ skips subclasses of Tensor, as which it sees simulated tensors."""
    for owner in (torch.autograd, torch.autograd.graph):
        wrap(owner, "_engine_run_backward", _check_initial)
    wrap(torch.autograd.function.BackwardCFunction, "apply", _check_results)
    wrap(Tensor, "register_hook", _hooking)
