"""Traces: the operators that PyTorch records, and the executor of traced and scripted functions."""

from __future__ import annotations

from typing import Any

import torch

from ...patching import overridden, replace, undo_with, wrap
from ...tensors.suspended_trace import suspend_trace
from ...tensors.tensor import Tensor

_tracing = torch._C._get_tracing_state
_convolve: Any = torch._convolution


class _Executor:
    """The executor that the program requests: the legacy one's fuser fails on lazy devices; results are the same."""

    profiling = True


def _set_executor(profiling: bool) -> bool:
    before, _Executor.profiling = _Executor.profiling, bool(profiling)
    return before


def _several(value: Any, count: int) -> list[int]:
    return [value] * count if isinstance(value, int) else list(value) * (count if len(value) == 1 else 1)


def _recording(dimensions: int, transposed: bool) -> Any:
    """Record `_convolution` in a trace, as on CUDA: C++ calls it in the dispatch mode, where nothing is recorded."""

    def make(original: Any) -> Any:
        def convolve(*args: Any, **kwargs: Any) -> Any:
            if _tracing() is None:
                return original(*args, **kwargs)
            tensor = args[0] if args else kwargs.get("input")
            if not isinstance(tensor, Tensor) or overridden(tensor) or tensor._devfix_gpu < 0:
                return original(*args, **kwargs)
            return (_convolve_transposed if transposed else _straight)(original, dimensions, *args, **kwargs)

        return convolve

    return make


def _straight(
    original: Any, dimensions: int, input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0,
    dilation: Any = 1, groups: int = 1,
) -> Any:  # fmt: skip
    steps, gaps = _several(stride, dimensions), _several(dilation, dimensions)
    if isinstance(padding, str):
        same = padding == "same"
        if padding not in ("same", "valid") or (same and any(step != 1 for step in steps)):
            return original(input, weight, bias, stride, padding, dilation, groups)  # raises the error
        with suspend_trace():
            sizes = list(weight.shape[2:])
        wide = [gap * (size - 1) * same for gap, size in zip(gaps, sizes)]  # noqa: B905 - both have as many
        edges = [part for total in reversed(wide) for part in (total // 2, total - total // 2)]
        if any(total % 2 for total in wide):
            input, wide = torch.nn.functional.pad(input, edges), [0] * dimensions
        padding = [total // 2 for total in wide]
    rest = (steps, _several(padding, dimensions), gaps, False, [0] * dimensions, groups)
    return _convolution(dimensions, input, weight, bias, *rest)


def _convolve_transposed(
    original: Any, dimensions: int, input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0,
    output_padding: Any = 0, groups: int = 1, dilation: Any = 1,
) -> Any:  # fmt: skip
    steps, pads, gaps = (_several(value, dimensions) for value in (stride, padding, dilation))
    rest = (steps, pads, gaps, True, _several(output_padding, dimensions), groups)
    return _convolution(dimensions, input, weight, bias, *rest)


def _convolution(dimensions: int, input: Any, *rest: Any) -> Any:
    cudnn = torch.backends.cudnn
    switches = (cudnn.benchmark, cudnn.deterministic, cudnn.enabled, cudnn.allow_tf32)
    if input.dim() != dimensions + 1:
        return _convolve(input, *rest, *switches)
    return _convolve(input.unsqueeze(0), *rest, *switches).squeeze(0)


def install() -> None:
    """Patch convolutions, and keep the executor that supports simulated GPUs."""
    for count in (1, 2, 3):
        wrap(torch, f"conv{count}d", _recording(count, False))
        wrap(torch, f"conv_transpose{count}d", _recording(count, True))
    choose: Any = torch._C._jit_set_profiling_executor
    _Executor.profiling = choose(True)
    replace(torch._C, "_jit_set_profiling_executor", _set_executor)
    undo_with(lambda: choose(_Executor.profiling))
