"""`torch.fft` in half precision, which cuFFT supports for powers of two and the CPU does not, and cuFFT's plans."""

from __future__ import annotations

from typing import Any

import torch

from ...patching import overridden, wrap
from ...tensors.tensor import Tensor

_WIDE = {torch.float16: torch.float32, torch.complex32: torch.complex64}
_NARROW = {wide: narrow for narrow, wide in _WIDE.items()}
_NAMES = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
MOST_PLANS = 4096  # kept for each GPU at first (ATen/native/cuda/CuFFTPlanCache.h)
plans: dict[int, dict[Any, None]] = {}
"""The plans that each GPU has made and keeps, the oldest first."""
limits: dict[int, int] = {}
"""How many plans a GPU keeps, where the program has said so."""


def trim_plans(gpu: int) -> None:
    """Forget the oldest plans beyond those that a GPU keeps."""
    kept = plans.setdefault(gpu, {})
    while len(kept) > limits.get(gpu, MOST_PLANS):
        del kept[next(iter(kept))]


def _note_plan(name: str, source: Any, size: Any, dim: Any) -> None:
    """Note the plan of a transform: both directions of a complex one have the same."""
    to_real = name.startswith(("irfft", "hfft"))
    kind = "c2r" if to_real else "c2c" if source.is_complex() else "r2c"
    lists = tuple(tuple(each) if isinstance(each, (list, tuple)) else each for each in (size, dim))
    key = (kind, name.rstrip("n2") != name, source.shape, source.stride(), source.dtype, *lists)
    kept = plans.setdefault(source._devfix_gpu, {})
    kept.pop(key, None)
    kept[key] = None
    trim_plans(source._devfix_gpu)


def _halve(original: Any) -> Any:
    name = original.__name__.removeprefix("fft_")
    many = name[-1] in "2n"

    def transform(input: Any, s: Any = None, dim: Any = None, norm: Any = None, **kwargs: Any) -> Any:
        size = kwargs.pop("n", s)
        if many:  # C++ takes a number for a list of one
            size, dim = ([each] if isinstance(each, int) else each for each in (size, dim))
        given: dict[str, Any] = {"s" if many else "n": size} if size is not None else {}
        given |= {"dim": dim} if dim is not None else {}
        on_gpu = isinstance(input, Tensor) and input._devfix_gpu >= 0 and not overridden(input)
        if not on_gpu or input.dtype not in _WIDE:
            result = original(input, norm=norm, **given, **kwargs)
            if on_gpu:
                _note_plan(name, input, size, dim)
            return result
        out = kwargs.pop("out", None)
        result = original(input.to(_WIDE[input.dtype]), norm=norm, **given, **kwargs)
        dims = _dimensions(name, many, input, size, dim)
        sizes = list(size if many else (size,)) if size is not None else [input.size(at) for at in dims]
        if not result.is_complex():
            sizes[-1] = result.size(dims[-1])
        if any(one & (one - 1) for one in sizes):
            text = "cuFFT only supports dimensions whose sizes are powers of two when computing in half precision, "
            raise RuntimeError(f"{text}but got a signal size of{sizes}")
        _note_plan(name, input, size, dim)
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
    plans.clear()
    limits.clear()
    for name in _NAMES:
        for suffix in ("", "2", "n"):
            wrap(torch.fft, name + suffix, _halve)
