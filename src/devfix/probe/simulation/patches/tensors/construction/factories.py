"""Constructors of numbers, and of what has the shape of a tensor: directly if nothing observes them, else by C++."""

from __future__ import annotations

from typing import Any

import torch

from .... import hooks
from ....accelerators import devices, kinds
from ....dispatcher import cpu_fast_path, factory_path
from ....patching import wrap
from ....tensors.tensor import Tensor

FACTORIES = (
    "zeros", "ones", "full", "empty", "arange", "linspace", "logspace", "eye", "rand", "randn", "randint",
    "randperm", "empty_strided", "empty_permuted", "empty_quantized", "normal",
    "zeros_like", "ones_like", "full_like", "empty_like", "rand_like", "randn_like",
    "randint_like", "tril_indices", "triu_indices", "hann_window", "hamming_window", "blackman_window",
    "kaiser_window", "bartlett_window",
)  # fmt: skip


# Constructors of numbers alone, which are made on the host for a GPU; those that draw take a generator.
_DRAWING = frozenset(("rand", "randn", "randint", "randperm"))
_MADE_OF_NUMBERS = _DRAWING | {"zeros", "ones", "full", "empty", "arange", "linspace", "eye"}

# Those that take shape or dtype of a tensor, and its device.
_MADE_LIKE = frozenset(
    ("zeros_like", "ones_like", "full_like", "empty_like", "new_zeros", "new_ones", "new_full", "new_empty")
)


def _accepting_index(original: Any) -> Any:
    """Let `device=0` name a GPU, for which C++ would use the build's accelerator."""
    name = getattr(original, "__name__", "")
    packet = getattr(torch.ops.aten, name, None)
    func = getattr(packet, "default", None)
    operator = func or getattr(packet, "memory_format", None)  # `empty` has no overload of another name
    draws, is_short = name in _DRAWING, name in _MADE_OF_NUMBERS and operator is not None
    is_like = name in _MADE_LIKE and func is not None

    def rest(*args: Any, **kwargs: Any) -> Any:
        if type(kwargs.get("device")) is int:
            kwargs["device"] = torch.device(kinds.now().name, kwargs["device"])
        if kwargs.get("out") is not None and kwargs.get("device") is not None:
            _check_out(kwargs["device"], kwargs["out"], name)
            kwargs["device"] = devices.inner(kwargs["device"])  # C++ compares it with that of the shell
        return original(*args, **kwargs)

    compiled = factory_path.compile_path(
        original, func, operator, rest, draws=draws, is_short=is_short, is_like=is_like
    )
    if compiled is not None:
        return compiled

    def call(*args: Any, **kwargs: Any) -> Any:
        if is_like:
            made = factory_path.made_like(original, func, args, kwargs)
            if made is not None:
                return made
        if is_short and kwargs.get("device") is not None:
            made = factory_path.made_on(original, operator, args, kwargs, draws)
            if made is not None:
                return made
        if func is not None and cpu_fast_path.makes(args, kwargs):
            made = cpu_fast_path.create_on_host(original, func, args, kwargs)
            if made is not None:
                return made
        return rest(*args, **kwargs)

    return call


def _check_out(device: Any, out: Any, name: str) -> None:
    """Raise what `check_out_type_matches` in torch/csrc does, which would name the shell's device."""
    asked, found = torch.device(device).type, out.device.type if isinstance(out, Tensor) else ""
    if found and asked != found:
        error = RuntimeError(f"device type {asked} does not match device type of out parameter ({found})")
        hooks.failed(error, f"torch.{name}", (out,), {})
        raise error


def install() -> None:
    """Patch them."""
    for name in FACTORIES:
        wrap(torch, name, _accepting_index)
    for name in ("new_zeros", "new_ones", "new_full", "new_empty", "new_empty_strided"):
        wrap(Tensor, name, _accepting_index)
    for name in ("fftfreq", "rfftfreq"):
        wrap(torch.fft, name, _accepting_index)
