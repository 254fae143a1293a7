"""The device check of TensorIterator, which CUDA's element-wise operators use.

The common device is that of the first operand that is not on the CPU, outputs first. One 0-dim CPU input is accepted if
the operator's iterator allows CPU scalars; an output never is (so `cpu_sum += cuda_loss` fails).
"""

from __future__ import annotations

from typing import Any

import torch

from ..accelerators import kinds, messages
from ..tensors.tensor import Tensor

# Operators whose iterator is built without `allow_cpu_scalars` (ATen/native: the config of each operator).
NO_SCALARS = {
    "complex", "polar", "_prelu_kernel", "_prelu_kernel_backward", "mse_loss_backward", "smooth_l1_loss_backward",
    "huber_loss_backward", "binary_cross_entropy_backward", "addr", "lerp_scalar", "glu_backward", "kaiser_window",
    "hardtanh_backward", "hardswish_backward", "log_sigmoid_backward", "cross", "linalg_cross", "dist",
    "binary_cross_entropy", "addcdiv", "addcdiv_",
}  # fmt: skip
if messages.VERSION >= (2, 13):  # as its CUDA library answers
    NO_SCALARS.add("mse_loss")
# Successive releases allowed 0-dim CPU tensors here.
SCALARS_SINCE = {
    "addcmul": (2, 7),
    "addcmul_": (2, 7),
    "lerp": (2, 7),
    "lerp_": (2, 7),
}
# Operators whose kernels take no number of the host in these places, though their iterators let it pass: they call
# `gpu_kernel`, where others call `gpu_kernel_with_scalars` (cuda/BinaryMiscOpsKernels.cu and cuda/Lerp.cu).
KERNELS_ON_GPU = {
    "mse_loss": ("self", "target"), "smooth_l1_loss": ("self", "target"),
    "lerp": ("self", "end"), "lerp_": ("self", "end"),
}  # fmt: skip
# What kernels multiply their result with, after an iterator that never sees it (`binary_cross_entropy_out_cuda` in
# cuda/Loss.cu); the dispatcher has chosen CUDA for its sake all the same.
AFTERWARDS = {"binary_cross_entropy": "weight"}


def allows_scalars(base: str, given: dict[str, Any]) -> bool:
    """Return whether the operator's iterator accepts a 0-dim CPU tensor among its inputs."""
    if base in ("clamp", "clamp_") and given.get("min") is not None and given.get("max") is not None:
        return False
    if base in ("lerp", "lerp_") and not isinstance(given.get("weight"), torch.Tensor):
        return True  # also in 2.6, whose kernel refuses them
    return base not in NO_SCALARS and SCALARS_SINCE.get(base, (0, 0)) <= messages.VERSION


def check(func: Any, base: str, given: dict[str, Any]) -> None:
    """Raise as TensorIterator does for tensors on several devices; `given` holds the arguments by name."""
    _check_dtypes(base, given)
    outputs = [
        argument.name for argument in func._schema.arguments if argument.alias_info and argument.alias_info.is_write
    ]
    inputs = [argument.name for argument in func._schema.arguments if not argument.is_out]
    operands = [(tensor, True) for name in outputs for tensor in _tensors(given.get(name))]
    if base == "rsub":  # it is `other - self`
        inputs[:2] = reversed(inputs[:2])
    operands += [(tensor, False) for name in inputs for tensor in _tensors(given.get(name))]
    common = next((tensor.device for tensor, _ in operands if tensor._devfix_gpu >= 0), None)
    later = given.get(AFTERWARDS.get(base, ""))
    if kinds.now().is_cuda and not any(each._devfix_gpu >= 0 for each, _ in operands if each is not later):
        raise _no_gpu(0)
    scalars, refused = 0, None
    for tensor, is_output in operands:
        if tensor.device == common:
            continue
        if base == "where" and not is_output and tensor.dim() == 0:
            continue  # `where_self_out` in ATen/native/TensorCompare.cpp moves it, from another GPU too
        if not is_output and tensor._devfix_gpu < 0 and tensor.dim() == 0 and allows_scalars(base, given):
            scalars += 1
            if scalars > 1:
                _check_sizes(func, operands)
                raise RuntimeError("Trying to pass too many CPU scalars to non-CPU kernel!")
            refused = tensor
        else:
            _check_sizes(func, operands)
            raise messages.two_devices(common, tensor.device)
    if refused is not None:
        _refuse_place(base, given, refused)  # by the kernel, after the iterator


def _check_sizes(func: Any, operands: list[tuple[Any, bool]]) -> None:
    """Raise what an iterator does for sizes, which it compares before devices (`build` in ATen/TensorIterator.cpp).

    What `out=` gives takes the sizes of the result; what is written in place is an operand as well, and keeps its own.
    """
    inputs = [tensor for tensor, is_output in operands if not is_output]
    if not _is_pointwise(func) or any(tensor.is_nested for tensor in inputs):
        return
    shape = torch.Size()
    for tensor in inputs:
        shape = torch._C._infer_size(shape, tensor.shape)
    for tensor, is_output in operands:
        if is_output and tensor.shape != shape and any(tensor is each for each in inputs):
            found = f"output with shape {list(tensor.shape)} doesn't match the broadcast shape {list(shape)}"
            raise RuntimeError(found)


def _is_pointwise(func: Any) -> bool:
    """Return whether PyTorch tags an operator as element-wise: `lt_` by `lt`, since not all in place are tagged."""
    if torch.Tag.pointwise in func.tags or func is torch.ops.aten.rsub.Tensor:  # which is `sub` the other way round
        return True
    space, _, name = func._schema.name.partition("::")
    plain = getattr(getattr(torch.ops, space), name.removesuffix("_"), None)
    overload = func._schema.overload_name or "default"
    return overload in (plain.overloads() if plain else ()) and torch.Tag.pointwise in getattr(plain, overload).tags


def _check_dtypes(base: str, given: dict[str, Any]) -> None:
    """Raise what `addcdiv` (ATen/native/PointwiseOps.cpp) does for integers before it makes its iterator."""
    factors = [given[name] for name in ("tensor1", "tensor2") if base in ("addcdiv", "addcdiv_")]
    if factors and not any(each.is_floating_point() or each.is_complex() for each in factors):
        old, new = (
            "(input + value * torch.trunc(tensor1 / tensor2)).to(input.dtype)",
            "(input + value * tensor1 / tensor2)",
        )
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a "
            f"true division of tensor1 and tensor2. The historic addcdiv behavior can be implemented as {old} for "
            f"integer inputs and as {new} for float inputs. The future addcdiv behavior is just the latter "
            f"implementation: {new}, for all dtypes."
        )


def _refuse_place(base: str, given: dict[str, Any], scalar: Any) -> None:
    """Raise what kernels do for numbers of the host: `addcmul_cuda_kernel` (cuda/PointwiseOpsKernel.cu) has words."""
    if not kinds.now().is_cuda:
        return
    for place, name in enumerate(KERNELS_ON_GPU.get(base, ()), 1):
        if given.get(name) is scalar:
            raise _no_gpu(place)
    name = next((name for name in ("self", "tensor1") if given.get(name) is scalar), "")
    if name and base in ("addcmul", "addcmul_"):
        text = f"CPU Scalar support for {name} argument is not supported when calling addcmul on CUDA tensors."
        more = " However, CPU Scalar support for tensor2 is supported, please swap your tensor1 and tensor2 terms."
        raise RuntimeError(text + (more if name == "tensor1" else ""))


def _no_gpu(place: int) -> RuntimeError:
    """Return the error of `gpu_kernel` for an operand on the host, which the iterator has let pass."""
    text = 'iter.device(arg).is_cuda() INTERNAL ASSERT FAILED at "/pytorch/aten/src/ATen/native/cuda/Loops.cuh"'
    found = f"argument {place}: expected a CUDA device but found cpu"
    return RuntimeError(f"{text}:317, please report a bug to PyTorch. {found}")


def _tensors(value: Any) -> list[Any]:
    items = value if isinstance(value, (list, tuple)) else (value,)
    return [item for item in items if isinstance(item, Tensor)]
