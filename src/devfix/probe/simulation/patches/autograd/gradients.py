"""Gradients on the wrong device: initial gradients of `backward`, and those of custom autograd functions."""

from __future__ import annotations

import functools
from typing import Any

import torch

from ... import hooks
from ...accelerators import devices, kinds
from ...patching import overridden, wrap
from ...tensors.tensor import Tensor


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


def _begun(original: Any) -> Any:
    """Check the initial gradients of a backward pass, as the engine does for tensors that are not subclasses."""

    def run_backward(tensors: Any, gradients: Any = (), *args: Any, **kwargs: Any) -> Any:
        return original(tensors, _place(tensors, gradients), *args, **kwargs)

    return run_backward


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


def _hooking(original: Any) -> Any:
    """Let the hook of a result check where it has put the gradient, as the engine does behind the function below."""

    def register_hook(self: Any, hook: Any) -> Any:
        if self._devfix_gpu < 0 or overridden(self) or self.grad_fn is None:
            return original(self, hook)
        name = type(self.grad_fn).__name__

        @functools.wraps(hook)
        def checked(gradient: Any) -> Any:
            result = hook(gradient)
            if isinstance(result, Tensor) and result.device != gradient.device:
                text = f"expected device {gradient.device} but got {result.device}"
                error = RuntimeError(f"Function {name} returned an invalid gradient at index 0 - {text}")
                if gradient.type() != result.type():  # torch/csrc/autograd/python_hook.cpp
                    title = getattr(hook, "__name__", "<unknown>")
                    text = f"(was {gradient.type()} got {result.type()})"
                    error = RuntimeError(f"hook '{title}' has changed the type of value {text}")
                elif not result.dim():
                    return result
                hooks.failed(error, "torch.Tensor.register_hook", (gradient, result), {})
                raise error
            return result

        return original(self, checked)

    return register_hook


def install() -> None:
    """Check gradients in Python, since C++ skips subclasses of Tensor, as which it sees simulated tensors."""
    for owner in (torch.autograd, torch.autograd.graph):
        wrap(owner, "_engine_run_backward", _begun)
    wrap(torch.autograd.function.BackwardCFunction, "apply", _checked)
    wrap(Tensor, "register_hook", _hooking)
