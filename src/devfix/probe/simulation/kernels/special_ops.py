"""Run operators that need more than unwrapping: copies between devices, factories, and random numbers."""

from __future__ import annotations

from typing import Any

import torch

from .. import hooks
from ..accelerators import devices, kinds, messages, randomness
from ..checks import mismatch
from ..operator_tables import numbers, policy
from ..operator_tables.plans import plan_of, special
from ..tensors.tensor import Tensor, count_write, refill_shell, reshape_shell, wrap, wrap_new
from ..tensors.unwrapping import MIXED, rewrap, unwrap_all
from . import widening

_mode_of = torch._C._get_dispatch_mode
_FAKE = torch._C._TorchDispatchModeKey.FAKE


@special("_to_copy")
def to_copy(plan: Any, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Copy a tensor to a device, a dtype or both."""
    source = args[0] if isinstance(args[0], Tensor) else numbers.as_tensors(plan, args)[0]
    device = kwargs.get("device")
    home = source._devfix_gpu
    target = home if device is None else devices.index_of(device)
    pinned = kwargs.get("pin_memory")
    if device is not None or pinned:
        there = device if target is None else devices.CPU
        kwargs = {**kwargs, "device": there, "pin_memory": None}
    held = source if home < 0 else source._devfix_held
    if target is not None and target >= 0:
        _refuse_mkldnn(held.layout)
    if (home >= 0 and held.layout is not torch.strided) or kwargs.get("layout") not in (None, held.layout):
        kwargs = {**kwargs, "layout": held.layout}
    result = plan.op(held, **kwargs)
    if target is not None and target >= 0:
        result = wrap(result, target)
    elif pinned or (home >= 0 and kwargs.get("non_blocking")):
        result._devfix_pinned = True  # an asynchronous copy from a GPU needs pinned memory
    if (-1 if target is None else target) == home:
        hooks.on_created(result, func, args, kwargs)
    else:
        hooks.moved(result, source, func)
    return result


def _refuse_mkldnn(layout: Any) -> None:
    """Raise what `new_with_itensor_mkldnn`'s key does for a layout of the host alone (c10/core/TensorOptions.h)."""
    if layout is torch._mkldnn and kinds.now().is_cuda:  # type: ignore[attr-defined]
        raise NotImplementedError("Unsupported device type for mkldnn layout: cuda")


@special("to")
def move(plan: Any, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Move or cast a tensor by its parts: in inference mode autograd does not decompose `to`."""
    return mismatch.decompose(func, "CompositeImplicitAutograd", args, kwargs)


@special("copy_", "_copy_from", "_copy_from_and_resize")
def copy(plan: Any, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Copy values into an existing tensor, from any device."""
    cells, keywords, gpu = unwrap_all(args, kwargs)
    plan.op(*cells, **keywords)
    target, source = (args[0], args[1]) if plan.name.startswith("aten::copy_") else (args[1], args[0])
    if target._devfix_gpu >= 0:
        reshape_shell(target)
        if target._devfix_whole is not None:
            count_write(target._devfix_whole)
    if gpu == MIXED:
        hooks.moved(target, source, func)
    else:
        hooks.on_created(target, func, args, kwargs)
    return target


@special("*device")
def make(plan: Any, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Create a tensor on the requested device, else on that of its source, else on the CPU."""
    if _mode_of(_FAKE) is not None:
        return func(*args, **kwargs)
    device = kwargs.get("device")
    cells, keywords, gpu = unwrap_all(args, kwargs)
    if gpu == MIXED:
        return mismatch.judge(plan, func, args, kwargs, cells)
    target = gpu if device is None else devices.index_of(device)
    pinned = keywords.pop("pin_memory", None)
    if target is not None and target >= 0:
        keywords["device"] = devices.CPU
        _refuse_mkldnn(keywords.get("layout"))
        if pinned:
            raise RuntimeError("Only dense CPU tensors can be pinned")
    result = randomness.run(plan, target, args, cells, keywords)
    if target is not None and target >= 0:
        is_new = plan.fresh and type(result) is Tensor
        result = wrap_new(result, target) if is_new else rewrap(plan, result, args, kwargs, target)
    elif pinned:
        result._devfix_pinned = True
    hooks.on_created(result, func, args, kwargs)
    return result


@special("_efficientzerotensor")
def make_zeros(plan: Any, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Create zeros with memory: forward derivatives use some without, which no kernel can read in a shell."""
    return make(plan_of(torch.ops.aten.zeros.default), func, args, kwargs)


@special("*random")
def draw(plan: Any, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Run an operator that draws random numbers, from the stream of its device."""
    cells, keywords, gpu = unwrap_all(args, kwargs)
    if gpu == MIXED:
        return mismatch.judge(plan, func, args, kwargs, cells)
    try:
        result = randomness.run(plan, gpu, args, cells, keywords)
    except RuntimeError as error:
        if gpu is None or gpu < 0 or not widening.helps(error, plan):
            raise
        with randomness.stream(plan, gpu, args, keywords):
            result = widening.try_run(plan, cells, keywords)
        if result is None:
            raise
    if gpu is not None and gpu >= 0:
        result = rewrap(plan, result, args, kwargs, gpu)
    hooks.on_created(result, func, args, kwargs)
    return result


@special("set_")
def set_source(plan: Any, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Set a tensor's storage, which determines its device."""
    target = args[0]
    cells, keywords, _ = unwrap_all(args, kwargs)
    if len(args) > 1 and not isinstance(args[1], Tensor):
        gpu = getattr(args[1], "_devfix_gpu", -1)
        if gpu != target._devfix_gpu and target._devfix_gpu >= 0:
            cells[0] = torch.empty((0,), dtype=target.dtype)
            target._devfix_held = cells[0]
    plan.op(*cells, **keywords)
    if target._devfix_gpu >= 0:
        refill_shell(target)
    hooks.on_created(target, func, args, kwargs)
    return target


@special(
    "_sparse_mm_reduce_impl",
    "_sparse_mm_reduce_impl_backward",
    "histogram",
    "_histogramdd_bin_edges",
    "_histogramdd_from_bin_cts",
    "_histogramdd_from_bin_tensors",
    "_spdiags",
    "_add_relu",
    "_add_relu_",
    "_convert_weight_to_int4pack_for_cpu",
    "_weight_int4pack_mm_for_cpu",
    "_dyn_quant_pack_4bit_weight",
    "_dyn_quant_matmul_4bit",
    "_upsample_lanczos2d_aa",
)
def absent(plan: Any, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Run an operator that has no CUDA kernel, which fails on a GPU; other kinds have kernels of some (`histogram`)."""
    if _has_kernel(func):
        return run_instead(func, args, kwargs)
    cells, keywords, gpu = unwrap_all(args, kwargs)
    if gpu not in (None, -1):
        raise messages.no_kernel(plan.name, f"SparseCsr{kinds.now().key}" if "sparse" in plan.name else "")
    result = plan.op(*cells, **keywords)
    hooks.on_created(result, func, args, kwargs)
    return result


def _has_kernel(func: Any) -> bool:
    """Return whether the kind has a kernel that CUDA lacks.

    XPU's were listed in yaml/native/native_functions.yaml of torch-xpu-ops, until June 2026.
    """
    kind = kinds.now()
    if kind is kinds.XPU:
        return str(func._schema.name) == "aten::histogram"
    entry = policy.entry_of(func)
    return kind is kinds.MPS and entry is not None and entry.has("MPS")


@special("_pack_padded_sequence")
def pack(plan: Any, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Pack sequences, whose lengths must be on the CPU."""
    lengths = args[1]
    if lengths._devfix_gpu >= 0:
        kind = {torch.int64: "Long", torch.int32: "Int", torch.float32: "Float"}.get(lengths.dtype, str(lengths.dtype))
        found = f"{lengths.dim()}D {lengths.device} {kind} tensor"
        raise RuntimeError(f"'lengths' argument should be a 1D CPU int64 tensor, but got {found}")
    cells, keywords, _ = unwrap_all(args, kwargs)
    result, sizes = plan.op(*cells, **keywords)
    home = args[0]._devfix_gpu
    packed = (wrap(result, home) if home >= 0 else result, sizes)
    hooks.on_created(packed, func, args, kwargs)
    return packed


@special("narrow_copy")
def copy_part(plan: Any, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Copy a part by `narrow` on a GPU: only the CPU has a kernel, with checks of its own."""
    if args[0]._devfix_gpu >= 0 and args[0].layout is torch.strided:
        if plan.name.endswith(".out"):
            raise messages.no_kernel(plan.name)
        return mismatch.decompose(func, "CompositeExplicitAutogradNonFunctional", args, kwargs)
    return run_instead(func, args, kwargs)


@special("convolution_overrideable")
def convolve(plan: Any, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Run `_convolution`, which traces contain, as on CUDA."""
    return run_instead(torch.ops.aten.convolution.default, args, kwargs)


@special("convolution_backward_overrideable")
def convolve_back(plan: Any, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Run its gradient."""
    given = mismatch.bind(func, args, kwargs)
    weight, transposed, groups = given["weight"], given["transposed"], given["groups"]
    channels = weight.shape[1] * groups if transposed else weight.shape[0]
    values = list(given.values())
    return run_instead(torch.ops.aten.convolution_backward.default, [*values[:3], [channels], *values[3:]], {})


def run_instead(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Run an operator on the values of its tensors, another one than C++ has selected, say."""
    cells, keywords, gpu = unwrap_all(args, kwargs)
    if gpu == MIXED:
        return mismatch.judge(plan_of(func), func, args, kwargs, cells)
    result = plan_of(func).op(*cells, **keywords)
    if gpu is not None and gpu >= 0:
        result = rewrap(plan_of(func), result, args, kwargs, gpu)
    hooks.on_created(result, func, args, kwargs)
    return result
