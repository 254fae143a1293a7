"""The messages of CUDA's errors, in the wording of the installed torch."""

from __future__ import annotations

import re
from typing import Any

import torch

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


def foreign_storage(device: Any, other: Any) -> RuntimeError:
    """Return the error for a storage on another device than the tensor."""
    text = f'Attempted to set the storage of a tensor on device "{device}" to a storage on different device "{other}".'
    return RuntimeError(f"{text}  This is no longer allowed; the devices must match.")


def invalid_ordinal(index: int) -> RuntimeError:
    """Return the error for a GPU that does not exist."""
    remark = "GPU device may be out of range, do you have enough GPUs?"
    return cuda_error("invalid device ordinal", "cudaErrorInvalidDevice", remark)


def while_capturing() -> RuntimeError:
    """Return the error for what a stream cannot do while its work is captured in a graph."""
    return cuda_error("operation not permitted when stream is capturing", "cudaErrorStreamCaptureUnsupported")


def cuda_error(text: str, name: str, *remarks: str) -> RuntimeError:
    """Return an error of the CUDA runtime."""
    lines = [f"CUDA error: {text}", *remarks]
    if VERSION >= (2, 9):
        page = "https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html"
        lines.append(f"Search for `{name}' in {page} for more information.")
    lines += [
        "CUDA kernel errors might be asynchronously reported at some other API call, "
        "so the stacktrace below might be incorrect.",
        "For debugging consider passing CUDA_LAUNCH_BLOCKING=1",
        "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.",
        "",
    ]
    kind = getattr(torch, "AcceleratorError", RuntimeError)
    return kind("\n".join(lines))


def no_gpus() -> RuntimeError:
    """Return the error for `CUDA_VISIBLE_DEVICES` hiding every GPU."""
    return RuntimeError("No CUDA GPUs are available")


def out_of_memory(text: str) -> RuntimeError:
    """Return the error for a simulated GPU without enough memory; `text` is the host allocator's."""
    found = re.search(r"tried to allocate (\d+) bytes", text)
    size = f" Tried to allocate {int(found[1]) / 2**30:.2f} GiB." if found else ""
    return torch.OutOfMemoryError(f"CUDA out of memory.{size}")


def no_kernel(operator: str, backend: str = "CUDA") -> NotImplementedError:
    """Return the error for an operator that CUDA does not support, without its list of backends."""
    text = f"Could not run '{operator}' with arguments from the '{backend}' backend. This could be because the operator"
    return NotImplementedError(
        f"{text} doesn't exist for this backend, or was omitted during the selective/custom build"
    )


def bad_fork() -> RuntimeError:
    """Return the error for CUDA in a child that was forked after its parent had used CUDA."""
    text = "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the 'spawn' "
    return RuntimeError(text + "start method")


def outward(text: str) -> str:
    """Return a message of PyTorch's C++ with `cuda:i` in place of `lazy:i`."""
    text = re.sub(r"\blazy:(\d+)", r"cuda:\1", text)
    text = re.sub(r"\btorch\.lazy\.(?=\w+Tensor)", "torch.cuda.", text)
    return re.sub(r"\blazy\b", "cuda", text).replace("LazyFloatType", "CUDAFloatType")
