"""`torch.fft` in half precision, which cuFFT supports for powers of two and the CPU does not."""

from __future__ import annotations

from typing import Any

import torch

from ...patching import overridden, wrap
from ...tensors.tensor import Tensor

_WIDE = {torch.float16: torch.float32, torch.complex32: torch.complex64}
_NARROW = {wide: narrow for narrow, wide in _WIDE.items()}
_NAMES = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")


def _halve(original: Any) -> Any:
    name = original.__name__.removeprefix("fft_")
    many = name[-1] in "2n"

    def transform(input: Any, s: Any = None, dim: Any = None, norm: Any = None, **kwargs: Any) -> Any:
        size = kwargs.pop("n", s)
        if many:  # C++ takes a number for a list of one
            size, dim = ([each] if isinstance(each, int) else each for each in (size, dim))
        given: dict[str, Any] = {"s" if many else "n": size} if size is not None else {}
        given |= {"dim": dim} if dim is not None else {}
        if not isinstance(input, Tensor) or input._devfix_gpu < 0 or overridden(input) or input.dtype not in _WIDE:
            return original(input, norm=norm, **given, **kwargs)
        out = kwargs.pop("out", None)
        result = original(input.to(_WIDE[input.dtype]), norm=norm, **given, **kwargs)
        dims = _dimensions(name, many, input, size, dim)
        sizes = list(size if many else (size,)) if size is not None else [input.size(at) for at in dims]
        if not result.is_complex():
            sizes[-1] = result.size(dims[-1])
        if any(one & (one - 1) for one in sizes):
            text = "cuFFT only supports dimensions whose sizes are powers of two when computing in half precision, "
            raise RuntimeError(f"{text}but got a signal size of{sizes}")
        made = result.to(_NARROW[result.dtype])
        return made if out is None else out.resize_(made.shape).copy_(made)

    return transform


def _dimensions(name: str, many: bool, source: Any, size: Any, dim: Any) -> list[int]:
    if dim is not None:
        return list(dim) if many else [dim]
    if name.endswith("2"):
        return [-2, -1]
    if not many:
        return [-1]
    return list(range(-(source.dim() if size is None else len(size)), 0))


def install() -> None:
    """Patch the transforms."""
    for name in _NAMES:
        for suffix in ("", "2", "n"):
            wrap(torch.fft, name + suffix, _halve)
