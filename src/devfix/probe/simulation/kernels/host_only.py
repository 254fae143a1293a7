"""Operators that have kernels for the CPU alone: those of dynamically quantized modules, oneDNN's, and mapped files."""

from __future__ import annotations

from typing import Any, NoReturn

from .. import hooks
from ..accelerators import devices, messages
from ..operator_tables.plans import special
from ..tensors.unwrapping import tensors_of
from .own_kernels import ordinary

# ATen/native/quantized/cpu registers them under the key CPU; ATen/native/quantized/cuda and cudnn have others.
_NAMES = (
    "linear_dynamic",
    "linear_relu_dynamic",
    "linear_dynamic_fp16",
    "linear_relu_dynamic_fp16",
    "linear_dynamic_fp16_unpacked_weight",
    "conv1d_dynamic",
    "conv2d_dynamic",
    "conv3d_dynamic",
    "conv_transpose1d_dynamic",
    "conv_transpose2d_dynamic",
    "conv_transpose3d_dynamic",
    "quantized_lstm_cell_dynamic",
    "quantized_gru_cell_dynamic",
    "quantized_rnn_relu_cell_dynamic",
    "quantized_rnn_tanh_cell_dynamic",
    "embedding_byte",
    "embedding_4bit",
)
_CONVERSIONS = ("to_mkldnn",)  # oneDNN's layouts are made of tensors of the host


@special(*(f"quantized::{name}" for name in _NAMES), *_CONVERSIONS)
def run_on_host(plan: Any, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Run an operator on tensors of the host; raise what the dispatcher raises for others."""
    if any(tensor._devfix_gpu >= 0 for tensor in tensors_of(args, kwargs)):
        _refuse(plan, func, args, kwargs)
    return ordinary(func, args, kwargs)


@special("from_file")
def map_file(plan: Any, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Map a file into memory of the host, and refuse a GPU as the library of CUDA's kernels of 2.13 does."""
    if kwargs.get("device") is not None and devices.index_named(kwargs["device"]) is not None:
        _refuse(plan, func, args, kwargs)
    return ordinary(func, args, kwargs)


def _refuse(plan: Any, func: Any, args: Any, kwargs: dict[str, Any]) -> NoReturn:
    error = messages.no_kernel(plan.name)
    hooks.failed(error, func, args, kwargs)
    raise error
