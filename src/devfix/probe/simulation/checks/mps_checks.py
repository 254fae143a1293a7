"""Errors of MPS's kernels for tensors that are not on MPS: no generated wrapper checks the devices of their arguments.

Operators on TensorIterator compare devices as CUDA's do (`iterator`). The rest find out as they ask for Metal's memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..accelerators import messages
from ..tensors.tensor import Tensor

CHECKS: dict[str, Callable[[str, dict[str, Any]], None]] = {}
_Check = Callable[[str, dict[str, Any]], None]


def check(*names: str) -> Callable[[_Check], _Check]:
    """Register the check of the operators with these base names."""

    def register(function: _Check) -> _Check:
        CHECKS.update(dict.fromkeys(names, function))
        return function

    return register


def placeholders(name: str, given: dict[str, Any]) -> None:
    """Raise what `Placeholder` in ATen/native/mps/OperationUtils.mm raises for memory of the host.

    A tensor without dimensions is let pass: kernels in Metal take it (`mtl_setBuffer`), and which other ones do could
    not be confirmed.
    """
    if any(tensor._devfix_gpu < 0 and tensor.dim() for value in given.values() for tensor in _tensors(value)):
        raise RuntimeError("Placeholder storage has not been allocated on MPS device!")


@check("mm", "addmm", "addmm_")
def multiplying(name: str, given: dict[str, Any]) -> None:
    """`checkAllSameGPU` in ATen/TensorUtils.cpp, called by ATen/native/mps/operations/LinearAlgebra.mm.

    The result is on MPS, since one operand is: the first operand on the CPU is the one that is named.
    """
    caller = "mm" if name == "mm" else "addmm_out_mps_impl"
    names = ("self", "mat2") if name == "mm" else ("self", "mat1", "mat2")
    shown = ("mat1", "mat2") if name == "mm" else names
    for place, (argument, spoken) in enumerate(zip(names, shown), 1):  # noqa: B905 - equally long
        tensor = given.get(argument)
        if isinstance(tensor, Tensor) and tensor._devfix_gpu < 0:
            text = f"Tensor for argument #{place} '{spoken}' is on CPU, but expected it to be on GPU"
            raise RuntimeError(f"{text} (while checking arguments for {caller})")


@check("bmm", "baddbmm", "baddbmm_", "addbmm", "addbmm_")
def multiplying_batches(name: str, given: dict[str, Any]) -> None:
    """The checks that begin `addbmm_or_baddbmm_out_mps_impl` in LinearAlgebra.mm; `bmm` only meets placeholders."""
    if name == "bmm":
        placeholders(name, given)
    for argument, tensor in given.items():
        if isinstance(tensor, Tensor) and tensor._devfix_gpu < 0:
            shown = "input" if argument == "self" else argument
            raise messages.check_failed(f"{shown}.is_mps()")


@check("cat")
def joining(name: str, given: dict[str, Any]) -> None:
    """`cat_out_mps` in ATen/native/mps/operations/Shape.mm compares with the last tensor that has elements."""
    tensors = _tensors(given.get("tensors"))
    kept = [tensor for tensor in tensors if tensor.numel()]
    for tensor in tensors:
        if kept and tensor.device != kept[-1].device:
            received = f"Received {tensor.device} and {kept[-1].device}"
            raise RuntimeError(f"torch.cat(): all input tensors must be on the same device. {received}")


@check("convolution", "_convolution", "_convolution_mode")
def convolving(name: str, given: dict[str, Any]) -> None:
    """The check of types in ATen/native/Convolution.cpp, and where the input decides for the CPU `MPSFallback.mm`'s."""
    source = given["input"]
    for argument in ("weight", "bias"):
        other = given.get(argument)
        if not isinstance(other, Tensor) or other.device == source.device:
            continue
        if source._devfix_gpu < 0:
            places = f"input(device='{source.device}') and weight(device={other.device}')"
            raise RuntimeError(f"slow_conv2d_forward_mps: {places}  must be on the same device")
        text = f"Input type ({_type_name(source)}) and {argument} type ({_type_name(other)}) should be the same"
        raise RuntimeError(text)


_IN_LINEAR = {"input": "inputs", "weight": "weights", "bias": "bias"}


def linear_error(tensors: tuple[Any, ...]) -> RuntimeError | None:
    """Return what `_mps_linear` in ATen/native/mps/operations/Linear.mm raises for input, weight and bias, if any."""
    if not any(isinstance(tensor, Tensor) and tensor._devfix_gpu >= 0 for tensor in tensors):
        return None
    for argument, tensor in zip(("input", "weight", "bias"), tensors):  # noqa: B905 - equally long
        if isinstance(tensor, Tensor) and tensor._devfix_gpu < 0:
            return RuntimeError(f"Tensor for argument {argument} is on {tensor.device} but expected on mps")
        if isinstance(tensor, Tensor) and not (tensor.is_floating_point() or tensor.is_complex()):
            return RuntimeError(f"MPS device does not support linear for non-float {_IN_LINEAR[argument]}")
    return None


def _type_name(tensor: Any) -> str:
    """Return a tensor's type as C++ names it, which Python only translates for the CPU and for CUDA."""
    name = str(tensor.type())
    return name.replace("torch.mps.", "MPS").replace("Tensor", "Type") if tensor._devfix_gpu >= 0 else name


def _tensors(value: Any) -> list[Any]:
    items = value if isinstance(value, (list, tuple)) else (value,)
    return [item for item in items if isinstance(item, Tensor)]
