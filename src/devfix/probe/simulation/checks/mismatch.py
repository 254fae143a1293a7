"""Operators with tensors on several devices: raise what CUDA raises, or run them if CUDA does.

The checks have CUDA's order: the generated wrapper's first, then the kernel's. Composite operators have no wrapper;
they are decomposed, and the part that would raise on CUDA raises here.
"""

from __future__ import annotations

from typing import Any

import torch

from .. import hooks, modes
from ..accelerators import devices, kinds, messages, randomness
from ..operator_tables import policy
from ..tensors.tensor import Tensor, count_write, reshape_shell
from ..tensors.unwrapping import rewrap, tensors_of, unwrap_all
from . import iterator, manual_checks, mps_checks, sparse_mixtures
from .manual_checks import CHECKS

Key = torch._C.DispatchKey
_has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
_PREFIXES = {torch.sparse_coo: "Sparse"}
_PREFIXES.update(
    {getattr(torch, name): "SparseCsr" for name in ("sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc")}
)


def judge(plan: Any, func: Any, args: Any, kwargs: dict[str, Any], cells: Any) -> Any:
    """Run an operator whose tensors lie on several devices, or raise CUDA's error."""
    base = func._schema.name.split("::")[-1]
    entry = policy.entry_of(func)
    tensors = tensors_of(args, kwargs)
    if any(tensor.device.type == "meta" for tensor in tensors) and _has_kernel(func._name, "Meta"):
        return decompose(func, "Meta", args, kwargs)
    key = backend_key(tensors)
    kind = kinds.now()
    if kind.is_cuda and key.startswith("Sparse") and sparse_mixtures.decide(base, key, bind(func, args, kwargs)):
        return carry_on(plan, func, args, kwargs)
    if kind.checks_arguments and entry is not None and entry.has(key) and entry.checks:
        check_exact(func, entry, args, kwargs, key)
    if kind.checks_arguments and (copies(base) or (entry is not None and entry.sizes_outputs)):
        check_outputs(func, args, kwargs)
    if entry is not None and entry.absent:
        raise messages.no_kernel(plan.name)
    if (
        entry is not None
        and key != kind.model_key
        and "CPU" in entry.kernels
        and not (entry.has(key) or entry.composite)
    ):
        raise messages.no_kernel(policy.reported_name(func._schema), key.replace(kind.model_key, kind.key))
    by_hand = (
        CHECKS.get(plan.name) or CHECKS.get(base)
        if kind.checks_arguments
        else mps_checks.CHECKS.get(base) or CHECKS.get(base)
    )
    if by_hand is not None:
        by_hand(base, bind(func, args, kwargs))
    elif entry is not None and not entry.has(key) and entry.composite:
        return decompose(func, entry.composite, args, kwargs)
    elif base.startswith("_foreach"):
        manual_checks.check_scalar_of_list(func, bind(func, args, kwargs))
        return decompose(func, "CompositeExplicitAutograd", args, kwargs)
    elif not kind.checks_arguments and entry is not None and entry.has(key) and not entry.iterates:
        mps_checks.placeholders(base, bind(func, args, kwargs))
    elif entry is None or entry.iterates or entry.checks:
        iterator.check(func, base, bind(func, args, kwargs))
    return carry_on(plan, func, args, kwargs)


def backend_key(tensors: list[Any]) -> str:
    """Return the dispatch key whose entry in PyTorch's table stands for an operator of these tensors."""
    key = kinds.now().model_key
    if any(tensor.is_nested for tensor in tensors):
        return f"NestedTensor{key}"
    layouts = {tensor._devfix_held.layout if tensor._devfix_gpu >= 0 else tensor.layout for tensor in tensors}
    return next((_PREFIXES[layout] for layout in layouts if layout in _PREFIXES), "") + key


def bind(func: Any, args: Any, kwargs: Any) -> dict[str, Any]:
    """Return the arguments of a call by their names."""
    names = [argument.name for argument in func._schema.arguments]
    return {**dict(zip(names, args)), **(kwargs or {})}  # noqa: B905 - defaults are left out of args


def check_exact(func: Any, entry: Any, args: Any, kwargs: Any, key: str) -> None:
    """Check as the generated wrapper does: outputs first, then the positional arguments, including 0-dim ones."""
    given = bind(func, args, kwargs)
    arguments = func._schema.arguments
    is_out = any(argument.is_out for argument in arguments)
    ordered = [argument for argument in arguments if argument.is_out]
    ordered += [argument for argument in arguments if not argument.kwarg_only]
    common = None
    for argument in ordered:
        value = given.get(argument.name)
        for tensor in value if isinstance(value, (list, tuple)) else (value,):
            if not isinstance(tensor, Tensor):
                continue
            if common is None:
                common = tensor.device
            elif tensor.device != common:
                method = cudnn_method(given) if entry.name == "native_batch_norm" else ""
                method = method or entry.method(key, is_out)
                raise messages.argument_mismatch(argument.name, tensor.device, common, method)


def check_outputs(func: Any, args: Any, kwargs: Any) -> None:
    """Check as `resize_out` of the generated kernels does, for the operators that set their outputs first.

    For an input on the host their wrapper sets no guard of a GPU's (c10/cuda/impl/CUDAGuardImpl.h).
    """
    given = bind(func, args, kwargs)
    arguments = func._schema.arguments
    ins, outs = ([given.get(each.name) for each in arguments if each.is_out is is_out] for is_out in (False, True))
    home = next((value.device for value in ins if isinstance(value, Tensor)), devices.CPU)
    for value in outs:
        if isinstance(value, Tensor) and value.device != home:
            if home.type == "cpu" and kinds.now().is_cuda and not copies(func._schema.name.split("::")[-1]):
                raise messages.guard_of_the_host()
            raise RuntimeError(f"Expected out tensor to have device {home}, but got {value.device} instead")


def copies(base: str) -> bool:
    """Return whether an operator copies a view into its output, which `copy_arg` of its generated kernel compares."""
    return base.endswith("_copy") or base == "diag"


def cudnn_method(given: dict[str, Any]) -> str:
    """Check as the wrapper of cuDNN's batch norm if CUDA would select it (ATen/native/Normalization.cpp)."""
    source, training = given["input"], given.get("training")
    if source.dim() == 2:  # the libraries of 2.6 to 2.13 name `native_batch_norm` for these
        return ""
    most = 880801 if training else 65535
    defined = given.get("weight") is not None and given.get("bias") is not None
    return "wrapper_CUDA__cudnn_batch_norm" if source.is_cuda and defined and source.size(0) <= most else ""


def decompose(func: Any, key: str, args: Any, kwargs: Any) -> Any:
    """Run a composite operator by its parts, in the simulated world."""
    with modes.enter_mode():
        return func._op_dk(getattr(Key, key), *args, **kwargs)


def carry_on(plan: Any, func: Any, args: Any, kwargs: Any) -> Any:
    """Run an operator that CUDA accepts; new tensors are on the first GPU among its tensors."""
    hooks.mixed(args, kwargs)
    cells, keywords, _ = unwrap_all(args, kwargs)
    gpu: int | None = next(each._devfix_gpu for each in tensors_of(args, kwargs) if each._devfix_gpu >= 0)
    if plan.base.endswith(("index_put", "index_fill")):  # indices, and numbers, may lie on another device
        gpu = args[0]._devfix_gpu if args[0]._devfix_gpu >= 0 else None
    if plan.random and plan.returned >= 0:
        gpu = args[plan.returned]._devfix_gpu  # the device of what is filled draws
    if keywords.get("device") is not None:
        gpu = devices.index_of(keywords["device"])
        keywords["device"] = keywords["device"] if gpu is None else devices.CPU
    with randomness.stream(plan, gpu, args, keywords):
        result = plan.op(*cells, **keywords)
    if gpu is not None:
        result = _result_in_place(plan, args) if plan.returned >= 0 else rewrap(plan, result, args, kwargs, gpu)
    hooks.on_created(result, func, args, kwargs)
    return result


def _result_in_place(plan: Any, args: Any) -> Any:
    """Return the tensor that an operator has written to, with the sizes that it has now."""
    target = args[plan.returned]
    if plan.reshapes and target._devfix_gpu >= 0:
        reshape_shell(target)
    if target._devfix_whole is not None:
        count_write(target._devfix_whole)
    return target
