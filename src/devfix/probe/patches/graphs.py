"""CUDA graphs: a capture writes down the operators, a replay runs them again into the same tensors."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from ..patching import replace
from ..tensor import Tensor


class _Recorder(TorchDispatchMode):
    def __init__(self, steps: list[Any]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.steps = steps

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        self.steps.append((func, args, kwargs or {}, result))
        return result


class CUDAGraph:
    """The operators that ran between `capture_begin` and `capture_end`."""

    def __init__(self, keep_graph: bool = False) -> None:
        self._steps: list[Any] = []
        self._recorder: Any = None

    def capture_begin(self, pool: Any = None, capture_error_mode: str = "global") -> None:
        """Write down the operators from here on."""
        self._steps.clear()
        self._recorder = _Recorder(self._steps)
        self._recorder.__enter__()

    def capture_end(self) -> None:
        """Stop writing down."""
        self._recorder.__exit__(None, None, None)

    def replay(self) -> None:
        """Run the operators again, writing into the tensors that the capture made."""
        with torch.no_grad():
            for func, args, kwargs, result in self._steps:
                _rewrite(result, func(*args, **kwargs))

    def reset(self) -> None:
        """Forget the operators."""
        self._steps.clear()

    def pool(self) -> Any:
        """A token for a memory pool."""
        return (0, id(self))


def _rewrite(old: Any, new: Any) -> None:
    if isinstance(old, (list, tuple)):
        for one, two in zip(old, new):  # noqa: B905 - the same operator gives as many
            _rewrite(one, two)
    elif isinstance(old, Tensor) and old is not new and old.data_ptr() != new.data_ptr():
        old.detach().copy_(new.detach())


class graph:
    """Capture the operators of a `with` block."""

    def __init__(self, cuda_graph: Any, pool: Any = None, stream: Any = None, **kwargs: Any) -> None:
        self.cuda_graph = cuda_graph

    def __enter__(self) -> None:
        self.cuda_graph.capture_begin()

    def __exit__(self, *error: Any) -> None:
        self.cuda_graph.capture_end()


def _callables(callables: Any, sample_args: Any, *args: Any, **kwargs: Any) -> Any:
    return callables


def install() -> None:
    """Patch graphs."""
    for name, new in (("CUDAGraph", CUDAGraph), ("graph", graph), ("make_graphed_callables", _callables)):
        for owner in (torch.cuda, getattr(torch.cuda, "graphs", None)):
            if owner is not None and hasattr(owner, name):
                replace(owner, name, new)
    for name in ("graph_pool_handle",):
        replace(torch.cuda, name, lambda: (0, 0))
