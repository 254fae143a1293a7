"""The kernel of a convolution that PyTorch chooses: `_select_conv_backend` in ATen/native/Convolution.cpp."""

from __future__ import annotations

from enum import Enum
from typing import Any

import torch


class Kernel(Enum):
    """A kernel on a GPU: the method of its generated check, and the name that its error for a dtype has.

    cuDNN has no generated check for these words; its errors are its own.
    """

    CUDNN = ("_cudnn_convolution", "")
    CUDNN_TRANSPOSED = ("_cudnn_convolution_transpose", "")
    DEPTHWISE_2D = ("___conv_depthwise2d", "conv_depthwise2d_forward_cuda")
    DEPTHWISE_3D = ("__conv_depthwise3d", "conv_depthwise3d")
    SLOW_2D = ("___slow_conv2d_forward", "slow_conv2d_cuda")
    SLOW_3D = ("__slow_conv3d_forward", "slow_conv3d_cuda")  # there is none for CUDA
    DILATED_2D = ("__slow_conv_dilated2d", "slow_conv_dilated<>")
    DILATED_3D = ("__slow_conv_dilated3d", "slow_conv_dilated<>")
    TRANSPOSED_2D = ("_slow_conv_transpose2d", "slow_conv_transpose2d_out_cuda")
    TRANSPOSED_3D = ("__slow_conv_transpose3d", "slow_conv_transpose3d_out_cuda")

    @property
    def is_of_cudnn(self) -> bool:
        """Return whether cuDNN computes."""
        return self in (Kernel.CUDNN, Kernel.CUDNN_TRANSPOSED)


NAMES = frozenset(kernel.value[1] for kernel in Kernel) - {""}
_ARGUMENTS = ("input", "weight", "bias", "stride", "padding", "dilation", "transposed", "output_padding", "groups")


def by_name(cells: Any) -> dict[str, Any]:
    """Return the positional arguments of a convolution by name."""
    return dict(zip(_ARGUMENTS, cells, strict=False))


def on_gpu(given: dict[str, Any]) -> Kernel:
    """Return the kernel that CUDA chooses for an input on a GPU."""
    source, weight = given["input"], given["weight"]
    by_cudnn = torch.backends.cudnn.enabled
    if _is_depthwise(source, weight, given) and not (by_cudnn and _is_for_cudnn(source, weight, given)):
        return Kernel.DEPTHWISE_3D if source.dim() == 5 else Kernel.DEPTHWISE_2D
    if by_cudnn:
        return Kernel.CUDNN_TRANSPOSED if given.get("transposed") else Kernel.CUDNN
    chosen = without_libraries(source, given)
    return Kernel.DILATED_3D if chosen is Kernel.SLOW_3D else chosen


def without_libraries(source: Any, given: dict[str, Any]) -> Kernel:
    """Return PyTorch's own kernel; one dimension is computed as two."""
    flat = source.dim() < 5
    if given.get("transposed"):
        return Kernel.TRANSPOSED_2D if flat else Kernel.TRANSPOSED_3D
    if any(step != 1 for step in given.get("dilation") or ()):
        return Kernel.DILATED_2D if flat else Kernel.DILATED_3D
    return Kernel.SLOW_2D if flat else Kernel.SLOW_3D


def _is_depthwise(source: Any, weight: Any, given: dict[str, Any]) -> bool:
    groups = given.get("groups", 1)
    plain = not given.get("transposed") and not source.is_complex() and source.dim() in (3, 4, 5)
    return bool(plain and source.size(1) == groups > 1 and weight.size(0) % groups == 0)


def _is_for_cudnn(source: Any, weight: Any, given: dict[str, Any]) -> bool:
    """Return what `use_cudnn_depthwise` and `check_cudnn_depthwise_workload_with_filter` do."""
    if source.dtype is not torch.float64 and any(map(_has_channels_last, (source, weight))):
        return True
    steps = tuple(given.get("stride") or (1,))
    is_line = source.dim() == 3
    stride = steps[-1]
    if source.dtype is not torch.float16 or weight.dtype is not torch.float16 or source.dim() == 5:
        return False
    if any(step != 1 for step in given.get("dilation") or ()) or len(set(steps)) > 1 or source.size(1) < 32:
        return False
    if is_line:
        return bool(stride == 1)
    height, width = weight.shape[2:]
    if height != width or width not in (1, 3, 5) or source.size(3) < 7 or stride > 2:
        return False
    return stride == 1 or _is_worth(source, int(width))


def _is_worth(source: Any, size: int) -> bool:
    """Return whether cuDNN is chosen for a stride of two, by the sizes for which it was found faster."""
    images, channels, width = source.size(0), source.size(1), source.size(3)
    if images == 1:
        return bool(size > 1 or width <= 28)
    if size == 1:
        return bool(images <= 16 and channels >= 128 and width <= 7)
    return bool(channels >= 512 or (channels >= 256 and width >= 28))


def _has_channels_last(tensor: Any) -> bool:
    layout = {4: torch.channels_last, 5: torch.channels_last_3d}.get(tensor.dim())
    return layout is not None and not tensor.is_contiguous() and tensor.is_contiguous(memory_format=layout)
