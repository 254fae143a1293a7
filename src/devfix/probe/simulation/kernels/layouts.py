"""Operators whose results lie in another order in memory on CUDA than on the CPU, which decides what `view` takes.

Kernels of the CPU keep the order of an input in `channels_last`; some of CUDA's begin with `contiguous()`.
"""

from __future__ import annotations

from typing import Any

from .. import hooks
from ..accelerators import kinds
from ..checks import mismatch
from ..operator_tables import dtypes
from ..operator_tables.plans import special
from ..tensors.unwrapping import MIXED, rewrap, unwrap_all
from . import widening

# By base name: the file in ATen/native that makes the result contiguous.
_CONTIGUOUS = {
    "native_group_norm": "group_norm.cpp",
    "pixel_shuffle": "PixelShuffle.cpp (`math_pixel_shuffle`: CUDA has no kernel)",
    "pixel_unshuffle": "PixelShuffle.cpp (`math_pixel_unshuffle`)",
    "channel_shuffle": "ChanelShuffle.cpp (`math_channel_shuffle`)",
    "native_channel_shuffle": "ChanelShuffle.cpp (`math_channel_shuffle`)",
    "reflection_pad2d": "cuda/ReflectionPad.cu",
    "max_unpool2d": "cuda/MaxUnpooling.cu",
    "roll": "cuda/TensorTransformations.cu (`roll_cuda`), along one dimension",
}


@special(*_CONTIGUOUS)
def run(plan: Any, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Run an operator, and let the first of its results be contiguous on CUDA."""
    cells, keywords, gpu = unwrap_all(args, kwargs)
    if gpu == MIXED:
        return mismatch.judge(plan, func, args, kwargs, cells)
    on_gpu = gpu is not None and gpu >= 0
    if on_gpu and plan.refused is not None:
        dtypes.refuse(plan.refused, cells, keywords, plan)
    try:
        result = plan.op(*cells, **keywords)
    except (NotImplementedError, RuntimeError) as error:
        result = widening.try_run(plan, cells, keywords) if on_gpu and widening.helps(error, plan) else None
        if result is None:
            raise
    if gpu is not None and gpu >= 0:
        if kinds.now().is_cuda and _drops_order(plan.base, cells):
            first = result[0] if isinstance(result, tuple) else result
            result = (first.contiguous(), *result[1:]) if isinstance(result, tuple) else first.contiguous()
        result = rewrap(plan, result, args, kwargs, gpu)
    hooks.on_created(result, func, args, kwargs)
    return result


def _drops_order(base: str, cells: list[Any]) -> bool:
    return base != "roll" or (len(cells) > 2 and len(cells[2]) == 1)
