"""`torch.compile` does not compile, but reports graph breaks; `torch.jit` accepts replaced functions."""

from __future__ import annotations

import functools
from typing import Any

import torch

from ...patching import innermost, replace, wrap
from . import whole_graphs

_BACKENDS = ("inductor", "eager", "aot_eager", "cudagraphs")  # which need no import of Dynamo to be known


class _AllocatorState:
    """The class that the compiler imports from CUDA builds when it is reset."""


def _compiling(original: Any) -> Any:
    def compile(model: Any = None, **kwargs: Any) -> Any:
        """Return a function unchanged, and a module wrapped as PyTorch does: its class and names differ."""
        _check_mode(**kwargs)
        if model is None:
            return functools.partial(compile, **kwargs)
        if not callable(model):
            raise AssertionError(f"A callable function is expected, but {type(model)} is provided.")
        is_module = isinstance(model, torch.nn.Module)
        if not kwargs.get("fullgraph") or kwargs.get("disable") or (not is_module and _is_own(model)):
            return torch.compiler.disable(model) if is_module else model
        if not is_module:
            return functools.wraps(model)(whole_graphs.check_graph(original, model, model, kwargs))
        made = torch.compiler.disable(model)
        made.forward = whole_graphs.check_graph(original, model, made.forward, kwargs)
        return made

    return compile


def _check_mode(mode: Any = None, options: Any = None, backend: Any = "inductor", **kwargs: Any) -> None:
    """Raise what `torch.compile` does for modes and options that there are not."""
    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified at the same time.")
    if backend == "inductor" and (options or mode not in (None, "default")):
        torch._TorchCompileInductorWrapper(mode, options, None)
    if isinstance(backend, str) and backend not in _BACKENDS:
        from torch._dynamo.backends.registry import lookup_backend

        lookup_backend(backend)


def _is_own(function: Any) -> bool:
    """Return whether PyTorch compiles a function of its own, as `torch.cond` does in every call."""
    return str(getattr(function, "__module__", "")).startswith("torch.")


def _compile_method(self: Any, *args: Any, **kwargs: Any) -> None:
    """Leave a module unchanged."""
    _check_mode(**kwargs)


def _builtin(original: Any) -> Any:
    def find_builtin(function: Any) -> Any:
        return original(innermost(function))

    return find_builtin


def _reading(original: Any) -> Any:
    def read(function: Any, *args: Any) -> Any:
        return original(innermost(function), *args)  # PyTorch's own source: `tensordot`

    return read


def install() -> None:
    """Patch the compilers."""
    wrap(torch, "compile", _compiling)
    whole_graphs.install()
    if not hasattr(torch._C, "_cuda_CUDAAllocator_AllocatorState"):
        replace(torch._C, "_cuda_CUDAAllocator_AllocatorState", _AllocatorState, add=True)
    replace(torch.nn.Module, "compile", _compile_method)
    import torch.jit._builtins as builtins
    import torch.jit._recursive as recursive

    wrap(builtins, "_find_builtin", _builtin)
    wrap(recursive, "try_compile_fn", _reading)
    wrap(torch.jit._script, "_get_overloads", _reading)
    replace(torch.jit._script, "_find_builtin", builtins._find_builtin)
    replace(recursive, "_find_builtin", builtins._find_builtin)
