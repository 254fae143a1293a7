"""The messages of CUDA's errors, in the wording of the installed torch."""

from __future__ import annotations

import re
from typing import Any

import torch

from . import kinds

VERSION = tuple(int(part) for part in re.findall(r"\d+", torch.__version__)[:2])
SAME_DEVICE = "Expected all tensors to be on the same device"
# Found in the libraries of the wheels: 2.7.1 has the older wording, 2.8.0 the newer.
NAMES_THE_ODD_ONE = VERSION >= (2, 8)


def argument_mismatch(argument: str, device: Any, common: Any, method: str) -> RuntimeError:
    """Return the error of the generated CUDA wrapper `method`, if `argument` is the first on another device."""
    if NAMES_THE_ODD_ONE:
        text = f"but got {argument} is on {device}, different from other tensors on {common}"
        return RuntimeError(f"{SAME_DEVICE}, {text} (when checking argument in method {method})")
    text = f"but found at least two devices, {common} and {device}!"
    return RuntimeError(f"{SAME_DEVICE}, {text} (when checking argument for argument {argument} in method {method})")


def two_devices(first: Any, second: Any) -> RuntimeError:
    """Return the error of TensorIterator, which names no argument."""
    return RuntimeError(f"{SAME_DEVICE}, but found at least two devices, {first} and {second}!")


def guard_of_the_host() -> RuntimeError:
    """Return the error of C++ that sets the current GPU to the device of a tensor on the host."""
    if VERSION >= (2, 8):
        return RuntimeError("CUDAGuardImpl initialized with non-CUDA DeviceType: cpu")
    place = '"/pytorch/c10/cuda/impl/CUDAGuardImpl.h":28'
    return RuntimeError(f"t == DeviceType::CUDA INTERNAL ASSERT FAILED at {place}, please report a bug to PyTorch. ")


def foreign_storage(device: Any, other: Any) -> RuntimeError:
    """Return the error for a storage on another device than the tensor."""
    text = f'Attempted to set the storage of a tensor on device "{device}" to a storage on different device "{other}".'
    return RuntimeError(f"{text}  This is no longer allowed; the devices must match.")


def invalid_ordinal(index: int, count: int = 0) -> RuntimeError:
    """Return the error for a GPU that does not exist, where there are `count`."""
    if not kinds.now().is_cuda:  # `check_device_index` in c10/xpu/XPUFunctions.h; for MPS it could not be confirmed
        return RuntimeError(f"The device index is out of range. It must be in [0, {count}), but got {index}.")
    remark = "GPU device may be out of range, do you have enough GPUs?"
    return cuda_error("invalid device ordinal", "cudaErrorInvalidDevice", remark)


def while_capturing() -> RuntimeError:
    """Return the error for what a stream cannot do while its work is captured in a graph."""
    return cuda_error("operation not permitted when stream is capturing", "cudaErrorStreamCaptureUnsupported")


# What the driver reports for work that was launched before (`get_cuda_async_error_suffix` in c10/cuda).
_LATER = ("cudaErrorAssert", "cudaErrorIllegalAddress", "cudaErrorLaunchFailure")


def cuda_error(text: str, name: str, *remarks: str) -> RuntimeError:
    """Return an error of the CUDA runtime, with the advice of `get_cuda_error_help` where it has no remarks."""
    lines = [f"CUDA error: {text}", *remarks]
    if VERSION >= (2, 9) and not remarks:
        page = "https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html"
        lines.append(f"Search for `{name}' in {page} for more information.")
    if name in _LATER or VERSION < (2, 13):
        lines += [
            "CUDA kernel errors might be asynchronously reported at some other API call, "
            "so the stacktrace below might be incorrect.",
            "For debugging consider passing CUDA_LAUNCH_BLOCKING=1",
        ]
    elif VERSION < (2, 14):  # whose library has no such text
        lines.append("For more detailed error information, run with CUDA_LOG_FILE=stderr")
    if VERSION < (2, 13):
        lines.append("Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.")
    kind = getattr(torch, "AcceleratorError", RuntimeError)
    return kind("\n".join([*lines, ""]))


def no_gpus() -> RuntimeError:
    """Return the error for `CUDA_VISIBLE_DEVICES` hiding every GPU."""
    return RuntimeError(f"No {kinds.now().key} GPUs are available")


class Memory:
    """The figures and observers behind the errors of GPUs without enough memory."""

    refusals: dict[int, int] = {}  # noqa: RUF012 - how often each GPU had not enough
    observers: list[Any] = []  # noqa: RUF012 - functions of the program's, `_cuda_attach_out_of_memory_observer`
    allowed: dict[int, int] = {}  # noqa: RUF012 - the bytes of each GPU that the process may take, where it said so
    figures: Any = None  # the bytes of a GPU in all, those free, those allocated and those reserved


def out_of_memory(text: str, gpu: int) -> RuntimeError:
    """Return the error for a simulated GPU without enough memory; `text` is the host allocator's."""
    Memory.refusals[gpu] = Memory.refusals.get(gpu, 0) + 1
    found = re.search(r"tried to allocate (\d+) bytes", text)
    asked = int(found[1]) if found else 0
    kind = kinds.now()
    if kind.name == "mps":  # `malloc` in ATen/mps/MPSAllocator.mm raises no error of its own class
        return RuntimeError("MPS backend out of memory." + (f" Tried to allocate {_size(asked)}." if found else ""))
    if not found or Memory.figures is None:
        return torch.OutOfMemoryError(
            f"{kind.key} out of memory." + (f" Tried to allocate {_size(asked)}." * bool(found))
        )
    if asked >= 1 << 60:  # `kOneExaByte` in c10/cuda/CUDACachingAllocator.cpp
        return torch.OutOfMemoryError(f"{kind.key} out of memory. Tried to allocate more than 1EB memory.")
    whole, free, used, kept = Memory.figures(gpu)
    for observer in Memory.observers:
        observer(gpu, asked, whole, free)
    allowed = [f"{_size(Memory.allowed[gpu])} allowed; "] if gpu in Memory.allowed else []
    lines = (
        f"{kind.key} out of memory. Tried to allocate {_size(asked)}.",
        f"GPU {gpu} has a total capacity of {_size(whole)} of which {_size(free)} is free.",
        f"Including non-PyTorch memory, this process has {_size(whole - free)} memory in use.",
        f"{''.join(allowed)}Of the allocated memory {_size(used)} is allocated by PyTorch,",
        f"and {_size(kept - used)} is reserved by PyTorch but unallocated.",
        "If reserved but unallocated memory is large try setting",
        "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.",
    )
    return torch.OutOfMemoryError(" ".join(lines))


def _size(size: int) -> str:
    """Return a number of bytes as `format_size` in c10/core/CachingDeviceAllocator.h writes it."""
    for shift, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if size > 1 << shift or (size == 1 << shift and unit != "KiB"):
            return f"{size / (1 << shift):.2f} {unit}"
    return f"{size} bytes"


def no_kernel(operator: str, backend: str = "") -> NotImplementedError:
    """Return the error for an operator that the device does not support, without its list of backends.

    XPU's is of `xpu_lazy_registration_or_error_fallback` in src/ATen/native/xpu/XPUFallback.cpp of torch-xpu-ops.
    """
    if not backend and kinds.now() is kinds.XPU:
        ask = "Please open a feature on https://github.com/intel/torch-xpu-ops/issues."
        way = "You can set the environment variable `PYTORCH_ENABLE_XPU_FALLBACK=1` to use the CPU implementation as a"
        return NotImplementedError(
            f"The operator '{operator}' is not currently implemented for the XPU device. {ask} {way} fallback for XPU "
            "unimplemented operators. WARNING: this will bring unexpected performance compared with running natively "
            "on XPU."
        )
    backend = backend or kinds.now().key
    text = f"Could not run '{operator}' with arguments from the '{backend}' backend. This could be because the operator"
    return NotImplementedError(
        f"{text} doesn't exist for this backend, or was omitted during the selective/custom build"
    )


def bad_fork() -> RuntimeError:
    """Return the error for CUDA in a child that was forked after its parent had used CUDA."""
    key = kinds.now().key
    text = f"Cannot re-initialize {key} in forked subprocess. To use {key} with multiprocessing, you must use the "
    return RuntimeError(text + "'spawn' start method")


def outward(text: str) -> str:
    """Return a message of PyTorch's C++ with `cuda:i` in place of `lazy:i`."""
    kind = kinds.now()
    text = re.sub(r"\blazy:(\d+)", rf"{kind.name}:\1", text)
    text = re.sub(r"\btorch\.lazy\.(?=\w+Tensor)", f"{kind.module}.", text)
    return re.sub(r"\bLazy(?=\w+Type\b)", kind.key, re.sub(r"\blazy\b", kind.name, text))


# `processErrorMsg` in torch/csrc/Exceptions.cpp writes these types of errors raised in C++ as Python names them.
_LEGACY = re.compile(r"\b(Sparse)?Lazy(Byte|Char|Double|Float|Int|Long|Short|Half)Type\b")


def translate(error: BaseException) -> bool:
    """Return whether an error's message named simulated GPUs as C++ does, after replacing it by `outward`'s."""
    text = error.args[0] if error.args and isinstance(error.args[0], str) else ""
    if "lazy" not in text.lower():
        return False
    if isinstance(error, RuntimeError):
        text = _LEGACY.sub(lambda found: f"{kinds.now().module}.{'sparse.' if found[1] else ''}{found[2]}Tensor", text)
    error.args = (outward(text), *error.args[1:])
    return True


def absent_dtype(dtype: torch.dtype) -> TypeError:
    """Return the error for a tensor of a dtype that MPS does not have.

    `empty_mps` in ATen/mps/EmptyTensor.cpp raises the first, `getMPSDataType` in ATen/native/mps/OperationUtils.mm the
    other.
    """
    if dtype is torch.float64:
        reason = "as the MPS framework doesn't support float64. Please use float32 instead."
        return TypeError(f"Cannot convert a MPS Tensor to float64 dtype {reason}")
    name = scalar_name(dtype)
    return TypeError(f"Trying to convert {name} to the MPS backend but it does not have support for that dtype.")


def check_failed(condition: str) -> RuntimeError:
    """Return what `TORCH_CHECK` raises for a condition without a text of its own (c10/util/Exception.h)."""
    report = "(Could this error message be improved?  If so, please report an enhancement request to PyTorch.)"
    return RuntimeError(f"Expected {condition} to be true, but got false.  {report}")


def scalar_name(dtype: torch.dtype) -> str:
    """Return the name of a dtype in C++, which messages print: "ComplexDouble", "Float8_e5m2"."""
    known = {torch.complex128: "ComplexDouble", torch.complex64: "ComplexFloat", torch.complex32: "ComplexHalf"}
    return known.get(dtype) or str(dtype).removeprefix("torch.").capitalize()
