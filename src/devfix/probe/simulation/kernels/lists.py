"""Operators on lists of tensors, of which CUDA's kernels refuse what the CPU's take."""

from __future__ import annotations

from typing import Any

import torch

from ..accelerators import kinds
from ..operator_tables.dtypes import DTYPE_ERROR, SCALARS
from ..operator_tables.plans import special
from ..tensors.unwrapping import tensors_of
from .special_ops import run_instead

_UNSCALED = (torch.float16, torch.float32, torch.float64)
_WITH_SCALARS = ("addcdiv", "addcdiv_", "addcmul", "addcmul_")


@special("_amp_foreach_non_finite_check_and_unscale_")
def unscale(plan: Any, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Unscale gradients, which may not be of bfloat16 (`AT_DISPATCH_FLOATING_TYPES_AND_HALF` in cuda/AmpKernels.cu)."""
    places = {tensor._devfix_gpu for tensor in tensors_of(args, kwargs)}
    dtype = args[0][0].dtype if args[0] else torch.float32
    if dtype not in _UNSCALED and len(places) == 1 and places != {-1} and kinds.now().is_cuda:
        kernel = "_amp_foreach_non_finite_check_and_unscale_cuda"
        raise DTYPE_ERROR(f"\"{kernel}\" not implemented for '{SCALARS.get(dtype, dtype)}'")
    return run_instead(func, args, kwargs)


@special(*(f"aten::_foreach_{name}.Tensor" for name in _WITH_SCALARS))
def scale(plan: Any, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Scale by numbers in a tensor on the host: `convert_tensor_to_scalar_list` in ATen/native/ForeachUtils.h."""
    scalars = args[3] if len(args) > 3 else kwargs["scalars"]
    if scalars._devfix_gpu >= 0 and kinds.now().is_cuda:
        raise RuntimeError(f"Expected scalars to be on CPU, got {scalars.device} instead.")
    return run_instead(func, args, kwargs)
