"""`torch.autocast`: PyTorch's kernels check `is_cuda()` in C++ and would not cast on a simulated GPU.

Simulated tensors have the AutocastCUDA key, or that of the world's kind of device. Python kernels replace PyTorch's
under that key: they cast, and call the operator again below it. `ATen/autocast_mode.h`, which the wheel contains, lists
the cast of each operator.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from ...accelerators import kinds
from ...dispatcher import composite_path
from ...patching import undo_with, wrap
from ...tensors.tensor import Tensor, device_of
from . import mps_autocast

Key = torch._C.DispatchKey
_libraries: list[Any] = []
# Operators that cuDNN runs as a whole, with half precision (ATen/cudnn/AutocastRNN.cpp).
_RECURRENT = [f"{name}.{form}" for name in ("lstm", "gru", "rnn_tanh", "rnn_relu") for form in ("input", "data")]
# Used without the header: the most frequently cast operators.
_FALLBACK = {
    "LOWER_PRECISION_FP": "_(conv1d) _(conv2d) _(conv3d) _(addmm) _(matmul) _(einsum) _(mm) _(mv) _(linear) _(bmm)",
    "FP32": "_(exp) _(log) _(layer_norm) _(group_norm) _(nll_loss) _(mse_loss) _(l1_loss) _(pow, Tensor_Scalar)",
    "FP32_SET_OPT_DTYPE": "_(softmax, int) _(log_softmax, int) _(sum) _(cumsum)",
    "PROMOTE": "_(addcmul) _(addcdiv) _(index_put) _(scatter_add)",
}  # fmt: skip


# Operators whose kernels on a GPU call one that autocast casts: what that gives (native/ReduceOps.cpp `trace_cuda` and
# UnaryOps.cpp `mvlgamma`: sums; AffineGridGenerator.cpp and LinearAlgebra.cpp `linalg_pinv`: products).
_CALLING = {
    "FP32": ["trace", "mvlgamma"],
    "LOWER_PRECISION_FP": ["_sparse_addmm"],
    "LOWER_RESULT": ["affine_grid_generator", "linalg_pinv.atol_rtol_tensor"],
    "FP32_APPEND_DTYPE": ["norm.Scalar", "norm.ScalarOpt_dim"],  # AT_FORALL_DIFFERENT_REDISPATCH_SIGNATURE
}


def _keys() -> Any:
    return torch._C.DispatchKeySet(_key())


def _key() -> Any:
    return getattr(Key, kinds.now().autocast_key)


def _list_operators() -> dict[str, list[str]]:
    """Return the qualified names of the operators of each policy."""
    if kinds.now().name == "mps":
        return mps_autocast.POLICIES
    header = Path(torch.__file__).parent / "include/ATen/autocast_mode.h"
    found = {}
    text = header.read_text(encoding="utf-8") if header.is_file() else ""
    for policy, fallback in _FALLBACK.items():
        block = re.search(rf"#define AT_FORALL_{policy}\(_\)((?:.*\\\n)*.*)", text)
        pairs = re.findall(r"_\((\w+)(?:, *(\w+))?\)", block.group(1) if block else fallback)
        found[policy] = [name + (f".{overload}" if overload else "") for name, overload in pairs]
    found["LOWER_PRECISION_FP"] += _RECURRENT
    for policy, names in _CALLING.items():
        found.setdefault(policy, []).extend(names)
    return found


def _is_floating_there(value: Any) -> bool:
    if not isinstance(value, Tensor) or not value.is_floating_point():
        return False
    return value._devfix_gpu >= 0 or bool(device_of(value).type == "lazy")  # the latter inside a transform


def _eligible(value: Any) -> bool:
    """Return whether autocast may give a value another dtype: `is_eligible` leaves numbers of 64 bits alone."""
    return _is_floating_there(value) and value.dtype is not torch.float64


def _cast(value: Any, dtype: torch.dtype) -> Any:
    if isinstance(value, Tensor):
        return value.to(dtype) if _eligible(value) and value.dtype is not dtype else value
    if isinstance(value, (list, tuple)):
        return [_cast(item, dtype) for item in value]
    return value


def _widest(values: Any) -> torch.dtype:
    """Return the dtype of `prioritize`: autocast's own, or float32 if a tensor has that."""
    flat = [item for value in values for item in (value if isinstance(value, (list, tuple)) else (value,))]
    lower = dtype = torch.get_autocast_dtype(kinds.now().name)
    for each in (item.dtype for item in flat if _eligible(item)):
        if torch.float32 in (dtype, each):
            dtype = torch.float32
        elif each is not lower:
            raise RuntimeError("Unexpected floating ScalarType in at::autocast::prioritize")
    return dtype


def _lower(args: Any, kwargs: Any) -> torch.dtype:
    return torch.get_autocast_dtype(kinds.now().name)


def _single(args: Any, kwargs: Any) -> torch.dtype:
    return torch.float32


def _promote(args: Any, kwargs: Any) -> torch.dtype:
    return _widest((*args, *kwargs.values()))


def _casting(func: Any, choose: Callable[[Any, Any], torch.dtype]) -> Any:
    def kernel(*args: Any, **kwargs: Any) -> Any:
        with torch._C._ExcludeDispatchKeyGuard(_keys()):
            dtype = choose(args, kwargs)
            cast = [_cast(value, dtype) for value in args]
            return func(*cast, **{name: _cast(value, dtype) for name, value in kwargs.items()})

    return kernel


def _with_dtype(func: Any) -> Any:
    names = [argument.name for argument in func._schema.arguments]
    place = names.index("dtype") if "dtype" in names else -1

    def kernel(*args: Any, **kwargs: Any) -> Any:
        with torch._C._ExcludeDispatchKeyGuard(_keys()):
            given = kwargs.get("dtype") or (args[place] if -1 < place < len(args) else None)
            if given is None and args and _eligible(args[0]):
                args, kwargs = args[:place] if place < len(args) else args, {**kwargs, "dtype": torch.float32}
            return func(*args, **kwargs)

    return kernel


def _with_result(func: Any) -> Any:
    """Return a kernel that casts its result, which is that of a product."""

    def kernel(*args: Any, **kwargs: Any) -> Any:
        with torch._C._ExcludeDispatchKeyGuard(_keys()):
            return _cast(func(*args, **kwargs), _lower(args, kwargs))

    return kernel


def _with_appended(func: Any) -> Any:
    """Return a kernel that calls the overload which takes a dtype: float32 in place of another of 16 bits."""
    wider = getattr(torch.ops.aten.norm, "ScalarOpt_dtype" if func._overloadname == "Scalar" else "ScalarOpt_dim_dtype")

    def kernel(self: Any, p: Any = 2, *rest: Any, **kwargs: Any) -> Any:
        with torch._C._ExcludeDispatchKeyGuard(_keys()):
            if func._overloadname != "Scalar" and len(rest) < 2:
                rest = (*rest, kwargs.pop("keepdim", False))
            return wider(self, p, *rest, dtype=torch.float32 if _eligible(self) else self.dtype, **kwargs)

    return kernel


def _register() -> None:
    """Register the kernels at the first autocast, since it takes some milliseconds and few programs need it."""
    if _libraries:
        return
    library = torch.library.Library("aten", "IMPL")
    _libraries.append(library)
    undo_with(_unregister)
    composite_path.listening.append(library)
    makers = {
        "FP32_SET_OPT_DTYPE": _with_dtype, "LOWER_RESULT": _with_result, "FP32_APPEND_DTYPE": _with_appended
    }  # fmt: skip
    policies = {"LOWER_PRECISION_FP": _lower, "FP32": _single, "PROMOTE": _promote}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for policy, names in _list_operators().items():
            for name in names:
                base, _, overload = name.partition(".")
                func = getattr(getattr(torch.ops.aten, base, None), overload or "default", None)
                if func is None:
                    continue
                make = makers.get(policy)
                _implement(library, name, _casting(func, policies[policy]) if make is None else make(func))


def _implement(library: Any, name: str, kernel: Any) -> None:
    try:
        library.impl(name, kernel, kinds.now().autocast_key, allow_override=True)
    except TypeError:
        library.impl(name, kernel, kinds.now().autocast_key)


def _unregister() -> None:
    while _libraries:
        library = _libraries.pop()
        composite_path.listening.remove(library)
        library._destroy()
    torch._C._dispatch_tls_set_dispatch_key_included(_key(), False)


def _begin() -> None:
    """Enable the kernels in this thread for all tensors: a transform's wrapper lacks the key."""
    _register()
    torch._C._dispatch_tls_set_dispatch_key_included(_key(), True)


def _on_host(original: Any) -> Any:
    """Leave tensors of the host to the kernels below: PyTorch's own under the key is reached by those of GPUs alone."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if not _libraries or any(map(_is_floating_there, (*args, *kwargs.values()))):
            return original(*args, **kwargs)
        with torch._C._ExcludeDispatchKeyGuard(_keys()):
            return original(*args, **kwargs)

    return call


def install() -> None:
    """Patch autocast, and the one function that autocast refuses."""
    wrap(torch._C._nn, "binary_cross_entropy", _on_host)
    for name in ("set_autocast_enabled", "set_autocast_gpu_dtype"):
        wrap(torch, name, _registering)


def _registering(original: Any) -> Any:
    """Enable the kernels where `torch.autocast` begins, but on the host. TorchScript compiles that class as it is."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if args[:1] != ("cpu",):
            _begin()
        return original(*args, **kwargs)

    return call
