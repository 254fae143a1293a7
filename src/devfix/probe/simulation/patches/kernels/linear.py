"""`linear`, the most frequent operator of programs, as a whole if possible."""

from __future__ import annotations

from typing import Any

import torch

from ... import hooks
from ...accelerators import kinds
from ...checks import mps_checks
from ...dispatcher import composite_path, cpu_fast_path, fast_path
from ...operator_tables.dtypes import PRODUCTS
from ...patching import replace, wrap

_func = torch.ops.aten.linear.default
_PLAIN = composite_path.PLAIN
_grad = torch.is_grad_enabled
_below = torch._C._DisableTorchDispatch


def _whole(original: Any) -> Any:
    def linear(input: Any, weight: Any, bias: Any = None) -> Any:
        if (
            type(input) in _PLAIN
            and type(weight) in _PLAIN
            and weight._devfix_gpu == (gpu := input._devfix_gpu)
            and (bias is None or (type(bias) in _PLAIN and bias._devfix_gpu == gpu))
            and not (
                gpu >= 0
                and _grad()
                and (input.requires_grad or weight.requires_grad or (bias is not None and bias.requires_grad))
            )
            and composite_path.alone()
            and hooks.on_created in hooks.fast_on_created
        ):
            if gpu < 0:
                made = cpu_fast_path.run_on_host(original, _func, (input, weight, bias), {})
                return original(input, weight, bias) if made is None else made
            guard = _below()
            try:
                result = original(input._devfix_held, weight._devfix_held, None if bias is None else bias._devfix_held)
            except Exception:
                result = None  # the regular path reports the failure
            finally:
                del guard
            if result is not None and result.dtype in PRODUCTS:
                return fast_path.place_result(result, gpu, _func, (input, weight, bias), {}, input)
        if not kinds.now().checks_arguments:  # MPS has a kernel of its own, which checks by hand
            error = mps_checks.linear_error((input, weight, bias))
            if error is not None:
                hooks.failed(error, _func, (input, weight, bias), {})
                raise error
        return original(input, weight, bias)

    return linear


def _asks(*tensors: Any) -> bool:
    return any(tensor is not None and tensor.requires_grad for tensor in tensors)


def install() -> None:
    """Patch `linear` in torch.nn.functional and its users."""
    wrap(torch._C._nn, "linear", _whole)
    replace(torch.nn.functional, "linear", torch._C._nn.linear)  # `__torch_function__` may compare it
