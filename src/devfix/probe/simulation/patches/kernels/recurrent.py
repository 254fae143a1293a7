"""Recurrent networks, which cuDNN runs as a whole: it compares the dtypes of all tensors before it begins.

A cell of one step is two products and a kernel for the rest, which compares all tensors again.
"""

from __future__ import annotations

from typing import Any

import torch

from ... import hooks
from ...accelerators import kinds, messages
from ...operator_tables.dtypes import SCALARS
from ...patching import overridden, wrap
from ...tensors.tensor import Tensor


def _comparing(original: Any) -> Any:
    def call(source: Any, second: Any, third: Any, *rest: Any, **kwargs: Any) -> Any:
        if isinstance(source, Tensor) and source._devfix_gpu >= 0 and not overridden(source):
            # A packed sequence has its batch sizes in the second place.
            packed = bool(rest) and isinstance(rest[0], (list, tuple))
            states, weights = (third, rest[0]) if packed else (second, third)
            if packed:
                _place(source, states, weights)
            _compare(source, states, weights)
            result = original(source, second, third, *rest, **kwargs)
            trains = rest[4 if packed else 3] if len(rest) > 4 else kwargs.get("train", True)
            if torch.is_grad_enabled() and torch.backends.cudnn.enabled and kinds.now().is_cuda:
                _hook(result, _second if trains else _refuse)
            return result
        return original(source, second, third, *rest, **kwargs)

    return call


def _place(source: Any, states: Any, weights: Any) -> None:
    """Raise what `check_attributes` does in cudnn/RNN.cpp, which alone looks at the devices of a packed sequence's."""
    if not torch.backends.cudnn.enabled:
        return
    for name, given in (("hidden", states), ("parameter", weights)):
        for item in given if isinstance(given, (list, tuple)) else (given,):
            if isinstance(item, Tensor) and item.device != source.device:
                found = f"found input tensor at {source.device} and {name} tensor at {item.device}"
                error = RuntimeError(f"Input and {name} tensors are not at the same device, {found}")
                hooks.failed(error, "torch.lstm", (source, item), {})
                raise error


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


def _refuse(gradients: Any) -> None:
    """Raise for gradients of what cuDNN computed in evaluation: `_cudnn_rnn_backward` in cudnn/RNN.cpp."""
    raise RuntimeError("cudnn RNN backward can only be called in training mode")


def _second(gradients: Any) -> Any:
    """Let gradients of these gradients raise (`_cudnn_rnn_backward` in derivatives.yaml)."""
    if not torch.is_grad_enabled():
        return None
    again: Any = _Once.apply
    return tuple(None if each is None else again(each.detach().requires_grad_()) for each in gradients)


class _Once(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, gradient: Any) -> Any:
        return gradient.view_as(gradient)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        raise NotImplementedError(
            "the derivative for '_cudnn_rnn_backward' is not implemented. Double backwards is not supported for CuDNN "
            "RNNs due to limitations in the CuDNN API. To run double backwards, please disable the CuDNN backend "
            "temporarily while running the forward pass of your RNN. For example: \n"
            "with torch.backends.cudnn.flags(enabled=False):\n    output = model(inputs)"
        )


def _hook(results: Any, hook: Any) -> None:
    for result in results:
        if isinstance(result, Tensor) and result.grad_fn is not None:
            result.grad_fn.register_prehook(hook)


def _stepping(original: Any) -> Any:
    """Run a cell as `LSTMCell` and `GRUCell` in ATen/native/RNN.cpp do on a GPU, where its tensors do not match."""
    kernel = f"_thnn_fused_{original.__name__}"

    def step(source: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None, **rest: Any) -> Any:
        hidden, *cell = hx if isinstance(hx, (list, tuple)) else (hx,)
        given = (source, hidden, *cell, w_ih, w_hh, *(each for each in (b_ih, b_hh) if each is not None))
        if (
            all(isinstance(each, Tensor) and not overridden(each) for each in given)
            and source._devfix_gpu >= 0
            and kinds.now().is_cuda
            and len({(each._devfix_gpu, each.dtype) for each in given}) > 1
        ):
            with torch.no_grad():
                gates = {"input_gates": source @ w_ih.t(), "hidden_gates": hidden @ w_hh.t()}
            states = {"cx" if cell else "hx": (cell or [hidden])[0]}
            _compare_gates(kernel, {**gates, **states, "input_bias": b_ih, "hidden_bias": b_hh})
        return original(source, hx, w_ih, w_hh, b_ih, b_hh, **rest)

    return step


def _compare_gates(kernel: str, given: dict[str, Any]) -> None:
    """Raise what the generated check of a kernel does, and then the kernel for dtypes, which autocast makes one."""
    gates = given["input_gates"]
    known = {name: each for name, each in given.items() if each is not None}
    errors = [
        messages.argument_mismatch(name, each.device, gates.device, f"wrapper_CUDA__{kernel}")
        for name, each in known.items()
        if each.device != gates.device
    ]
    if not torch.is_autocast_enabled("cuda"):
        expected = f"expected scalar type {SCALARS[gates.dtype]}"
        errors += [
            RuntimeError(f"{expected} but found {SCALARS[each.dtype]}")
            for each in known.values()
            if each.dtype is not gates.dtype
        ]
    if errors:
        hooks.failed(errors[0], f"aten::{kernel}", tuple(known.values()), {})
        raise errors[0]


def install() -> None:
    """Patch the functions, which torch.nn finds under another name."""
    for name in ("lstm", "gru", "rnn_tanh", "rnn_relu"):
        wrap(torch, name, _comparing)
    for name in ("lstm_cell", "gru_cell"):
        wrap(torch, name, _stepping)
