"""CUDA graphs: a capture records the operators, a replay runs them again on the same tensors.

The operators run during the capture to get the shapes of their results. Tensors that existed before are restored when
the capture ends, since a capture computes nothing on CUDA.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from ...accelerators import devices, messages
from ...dispatcher import graph_capture
from ...operator_tables.plans import plan_of
from ...patching import replace, undo_with
from ...tensors.tensor import Tensor
from ...tensors.unwrapping import tensors_of
from ..accelerators import stream_pools
from ..accelerators.rebasing import rebased

_MODES = ("global", "thread_local", "relaxed")
_numbers: Iterator[int] = itertools.count(1)
_made: dict[Any, Any] = {}  # by PyTorch's class: a world that is entered again has the same one


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


class Graph:
    """The operators that ran between `capture_begin` and `capture_end`: the base of `torch.cuda.CUDAGraph`.

    Its refusals are those of ATen/cuda/CUDAGraph.cpp. Since 2.14 PyTorch's class ends a capture in two steps, and
    prepares the graph between them.
    """

    def __new__(cls, keep_graph: bool = False) -> Any:
        """Return an empty graph."""
        made: Any = object.__new__(cls)
        made._devfix_steps, made._devfix_recorder, made._devfix_pool = [], None, None
        made._devfix_captured, made._devfix_keeps, made._devfix_failed = False, keep_graph, False
        made._devfix_ready = False
        return made

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(f"cannot pickle '{type(self).__name__}' object")

    def capture_begin(self: Any, pool: Any = None, capture_error_mode: str = "global") -> None:
        """Record operators from here on."""
        if capture_error_mode not in _MODES:
            text = "Unknown capture error mode. Expected `global`, `thread_local`, or `relaxed`, got "
            raise RuntimeError(text + str(capture_error_mode))
        if self._devfix_captured:
            text = (
                "This CUDAGraph instance already owns a captured graph. To capture a new graph, create a new instance."
            )
            raise RuntimeError(text)
        if not stream_pools.current(devices.current()):
            text = "CUDA graphs must be captured on a non-default stream. (However, after capture, it's ok to replay "
            raise RuntimeError(text + "them on the default stream.)")
        if self._devfix_recorder is not None or graph_capture.active():
            graph_capture.check()
        self._devfix_steps.clear()
        self._devfix_failed = False
        self._devfix_pool = (next(_numbers), 0) if pool is None else pool
        graph_capture.begin(self)
        self._devfix_recorder = _Recorder(self._devfix_steps)
        self._devfix_recorder.__enter__()

    def capture_end(self: Any) -> None:
        """Stop recording, and prepare the graph unless it is kept."""
        Graph.capture_end_pre(self)
        self._devfix_ready = not self._devfix_keeps

    def capture_end_pre(self: Any) -> None:
        """Stop recording."""
        recorder, self._devfix_recorder = self._devfix_recorder, None
        if recorder is None:
            raise messages.cuda_error("operation not permitted", "cudaErrorIllegalState")
        recorder.__exit__(None, None, None)
        graph_capture.end()
        recorder.take_back()
        if self._devfix_failed:
            text = "operation failed due to a previous error during capture"
            raise messages.cuda_error(text, "cudaErrorStreamCaptureInvalidated")
        self._devfix_captured = True

    def capture_end_post(self: Any) -> None:
        """Destroy nothing."""

    @property
    def _has_graph_exec(self: Any) -> bool:
        return bool(self._devfix_ready)

    def replay(self: Any) -> None:
        """Run the operators again, writing to the tensors that the capture created."""
        if not self._devfix_captured:
            raise RuntimeError("Called CUDAGraph::replay without a preceding successful capture.")
        with torch.no_grad():
            for func, args, kwargs, result in self._devfix_steps:
                _rewrite(result, func(*args, **kwargs))

    def reset(self: Any) -> None:
        """Forget the operators."""
        self._devfix_steps.clear()
        self._devfix_captured = self._devfix_ready = False

    def instantiate(self: Any) -> None:
        """Prepare the graph."""
        if not self._devfix_captured:
            raise RuntimeError("capture_end() must have been called before calling instantiate")
        if self._devfix_ready and not self._devfix_keeps:
            raise RuntimeError("instantiate() is intended to be called by the user only when keep_graph=true")
        self._devfix_ready = True

    def register_generator_state(self: Any, generator: Any) -> None:
        """Register a generator that draws inside the graph."""

    def enable_debug_mode(self: Any) -> None:
        """Keep nothing for a dump."""

    def debug_dump(self: Any, debug_path: str) -> None:
        """Dump nothing."""

    def pool(self: Any) -> Any:
        """Return a token for the memory pool."""
        if not self._devfix_captured:
            raise RuntimeError("Called CUDAGraph::pool() without a preceding successful capture.")
        return self._devfix_pool

    def pools(self: Any) -> list[Any]:
        """Return tokens for all memory pools that the graph keeps."""
        if not self._devfix_captured:
            raise RuntimeError("Called CUDAGraph::pools() without a preceding successful capture.")
        return [self._devfix_pool]

    def _retain_pool(self: Any, pool: Any) -> None:
        """Keep no memory."""

    def raw_cuda_graph(self: Any) -> int:
        """Return the address of the graph, which it has to keep."""
        if not self._devfix_keeps:
            text = (
                "You cannot access the raw cudaGraph_t instance unless CUDAGraph was initialized with keep_graph=true"
            )
            raise RuntimeError(text)
        if not self._devfix_captured:
            raise RuntimeError("You cannot access the raw cudaGraph_t instance until capture_end() has been called")
        return id(self)

    def raw_cuda_graph_exec(self: Any) -> int:
        """Return the address of the graph that is ready to run."""
        if not self._devfix_captured:
            raise RuntimeError("You cannot access the raw cudaGraphExec_t instance until instantiate() has been called")
        return id(self)


def _rewrite(old: Any, new: Any) -> None:
    if isinstance(old, (list, tuple)):
        for one, two in zip(old, new):  # noqa: B905 - the same operator returns as many
            _rewrite(one, two)
    elif isinstance(old, Tensor) and old is not new and old.data_ptr() != new.data_ptr():
        old.detach().copy_(new.detach())


def _forget_stream() -> None:
    torch.cuda.graphs.graph.default_capture_stream = None


def _pool_handle() -> tuple[int, int]:
    return (0, next(_numbers))


def install() -> None:
    """Patch what PyTorch's own graphs, their context and `make_graphed_callables` stand on."""
    part = torch.cuda.graphs
    if part.CUDAGraph not in _made:
        _made[part.CUDAGraph] = rebased(part.CUDAGraph, Graph)
    graph = _made[part.CUDAGraph]
    for owner in (torch.cuda, part):
        replace(owner, "CUDAGraph", graph)
    replace(part, "_graph_pool_handle", _pool_handle)
    _forget_stream()  # which belongs to a world
    undo_with(_forget_stream)
