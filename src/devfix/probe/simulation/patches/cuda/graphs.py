"""CUDA graphs: a capture records the operators, a replay runs them again on the same tensors.

The operators run during the capture to get the shapes of their results. Tensors that existed before are restored when
the capture ends, since a capture computes nothing on CUDA.
"""

from __future__ import annotations

import itertools
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from ...accelerators import messages
from ...dispatcher import graph_capture
from ...operator_tables.plans import plan_of
from ...patching import replace
from ...tensors.tensor import Tensor
from ...tensors.unwrapping import tensors_of


class _Recorder(TorchDispatchMode):
    def __init__(self, steps: list[Any]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.steps = steps
        self._kept: dict[int, tuple[Any, Any]] = {}
        self._made: set[int] = set()

    def _keep(self, func: Any, args: Any, kwargs: Any) -> None:
        """Copy a tensor that an operator is about to write to, if it is older than the capture."""
        if not any(argument.alias_info and argument.alias_info.is_write for argument in func._schema.arguments):
            return
        for tensor in tensors_of(args, kwargs):
            held = tensor._devfix_held
            if held is None or held.layout is not torch.strided:
                continue
            storage = held.untyped_storage()
            address = storage.data_ptr()
            if address and address not in self._made and address not in self._kept:
                self._kept[address] = (storage, storage.clone())

    def take_back(self) -> None:
        """Restore the copied values."""
        for storage, values in self._kept.values():
            storage.copy_(values)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if hasattr(func, "_schema"):
            self._keep(func, args, kwargs or {})
        result = func(*args, **(kwargs or {}))
        self.steps.append((func, args, kwargs or {}, result))
        if hasattr(func, "_schema") and plan_of(func).pure:
            made = (item for item in tensors_of((result,), {}) if item._devfix_held is not None)
            self._made.update(item.data_ptr() for item in made if item._devfix_held.layout is torch.strided)
        return result


class CUDAGraph:
    """The operators that ran between `capture_begin` and `capture_end`."""

    def __init__(self, keep_graph: bool = False) -> None:
        self._steps: list[Any] = []
        self._recorder: Any = None
        self._captured = False
        self.failed = False

    def capture_begin(self, pool: Any = None, capture_error_mode: str = "global") -> None:
        """Record operators from here on."""
        if torch.cuda.current_stream().cuda_stream == 0:
            text = "CUDA graphs must be captured on a non-default stream. (However, after capture, it's ok to replay "
            raise RuntimeError(text + "them on the default stream.)")
        self._steps.clear()
        self.failed = False
        graph_capture.begin(self)
        self._recorder = _Recorder(self._steps)
        self._recorder.__enter__()

    def capture_end(self) -> None:
        """Stop recording."""
        if self._recorder is None:
            raise messages.cuda_error("operation not permitted", "cudaErrorIllegalState")
        self._recorder.__exit__(None, None, None)
        graph_capture.end()
        self._recorder.take_back()
        self._recorder = None
        if self.failed:
            text = "operation failed due to a previous error during capture"
            raise messages.cuda_error(text, "cudaErrorStreamCaptureInvalidated")
        self._captured = True

    def replay(self) -> None:
        """Run the operators again, writing to the tensors that the capture created."""
        if not self._captured:
            raise RuntimeError("Called CUDAGraph::replay without a preceding successful capture.")
        with torch.no_grad():
            for func, args, kwargs, result in self._steps:
                _rewrite(result, func(*args, **kwargs))

    def reset(self) -> None:
        """Forget the operators."""
        self._steps.clear()
        self._captured = False

    def instantiate(self) -> None:
        """Prepare nothing more."""

    def register_generator_state(self, generator: Any) -> None:
        """Register a generator that draws inside the graph."""

    def enable_debug_mode(self) -> None:
        """Keep nothing for a dump."""

    def debug_dump(self, debug_path: str) -> None:
        """Dump nothing."""

    def pool(self) -> Any:
        """Return a token for a memory pool."""
        return (0, id(self))


def _rewrite(old: Any, new: Any) -> None:
    if isinstance(old, (list, tuple)):
        for one, two in zip(old, new):  # noqa: B905 - the same operator returns as many
            _rewrite(one, two)
    elif isinstance(old, Tensor) and old is not new and old.data_ptr() != new.data_ptr():
        old.detach().copy_(new.detach())


class graph:
    """Capture the operators of a `with` block."""

    def __init__(self, cuda_graph: Any, pool: Any = None, stream: Any = None, **kwargs: Any) -> None:
        self.cuda_graph = cuda_graph
        self.capture_stream = torch.cuda.Stream() if stream is None else stream
        self._context = torch.cuda.stream(self.capture_stream)

    def __enter__(self) -> None:
        self._context.__enter__()
        self.cuda_graph.capture_begin()

    def __exit__(self, *error: Any) -> None:
        try:
            self.cuda_graph.capture_end()
        finally:
            self._context.__exit__(*error)


def _callables(callables: Any, sample_args: Any, *args: Any, **kwargs: Any) -> Any:
    return callables


def install() -> None:
    """Patch graphs."""
    for name, new in (("CUDAGraph", CUDAGraph), ("graph", graph), ("make_graphed_callables", _callables)):
        for owner in (torch.cuda, getattr(torch.cuda, "graphs", None)):
            if owner is not None and hasattr(owner, name):
                replace(owner, name, new)
    numbers = itertools.count(1)
    replace(torch.cuda, "graph_pool_handle", lambda: (0, next(numbers)))
