"""CUDA graphs: a capture records the operators, a replay runs them again on the same tensors.

The operators run during the capture to get the shapes of their results. Tensors that existed before are restored when
the capture ends, since a capture computes nothing on CUDA.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from ...accelerators import captures, messages
from ...patching import replace, undo_with
from ...tensors.tensor import Tensor
from ..accelerators.rebasing import rebase
from . import recording

_MODES = [mode.value for mode in captures.CaptureMode]
_numbers: Iterator[int] = itertools.count(1)
_made: dict[Any, Any] = {}  # by PyTorch's class: a world that is entered again has the same one


class Graph:
    """The operators that ran between `capture_begin` and `capture_end`: the base of `torch.cuda.CUDAGraph`.

    Its refusals are those of ATen/cuda/CUDAGraph.cpp. Since 2.14 PyTorch's class ends a capture in two steps, and
    prepares the graph between them.
    """

    def __new__(cls, keep_graph: bool = False) -> Any:
        """Return an empty graph."""
        made: Any = object.__new__(cls)
        made._devfix_steps, made._devfix_capture, made._devfix_pool = [], None, None
        made._devfix_captured, made._devfix_keeps, made._devfix_ready = False, keep_graph, False
        made._devfix_stream = captures.stream_of()
        return made

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(f"cannot pickle '{type(self).__name__}' object")

    def capture_begin(self: Any, pool: Any = None, capture_error_mode: str = "global") -> None:
        """Record operators from here on."""
        if capture_error_mode not in _MODES:
            text = "Unknown capture error mode. Expected `global`, `thread_local`, or `relaxed`, got "
            raise RuntimeError(text + str(capture_error_mode))
        if self._devfix_ready:
            text = (
                "This CUDAGraph instance already owns a captured graph. To capture a new graph, create a new instance."
            )
            raise RuntimeError(text)
        stream = captures.stream_of()
        if not stream[1]:
            text = "CUDA graphs must be captured on a non-default stream. (However, after capture, it's ok to replay "
            raise RuntimeError(text + "them on the default stream.)")
        self._devfix_stream = stream
        self._devfix_pool = (next(_numbers), 0) if pool is None else pool
        self._devfix_capture = captures.begin(captures.CaptureMode(capture_error_mode))
        self._devfix_steps.clear()
        self._devfix_captured = False
        recording.begin(self._devfix_capture, self._devfix_steps)

    def capture_end(self: Any) -> None:
        """Stop recording, and prepare the graph unless it is kept."""
        Graph.capture_end_pre(self)
        self._devfix_ready = not self._devfix_keeps

    def capture_end_pre(self: Any) -> None:
        """Stop recording."""
        if captures.stream_of() != self._devfix_stream:
            raise RuntimeError("Capture must end on the same stream it began on.")
        capture = self._devfix_capture
        if capture is None:
            raise messages.cuda_error("the operation cannot be performed in the present state", "cudaErrorIllegalState")
        try:
            captures.end(capture)
        finally:
            if capture.over:
                self._devfix_capture = None
                recording.end(capture)
        if not capture.kernels:
            warnings.warn(_EMPTY, stacklevel=3)
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
        self._devfix_ready = True
        around = captures.current(self._devfix_stream[0])
        if around is not None:
            raise captures.invalidate(around)
        with torch.no_grad(), torch.cuda.device(self._devfix_stream[0]):
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
        """Keep graphs for a dump from here on, of whichever object."""
        _Debugging.enabled = True

    def debug_dump(self: Any, debug_path: str) -> None:
        """Write the graph in the language of Graphviz."""
        if not (_Debugging.enabled or self._devfix_keeps):
            warnings.warn("CUDA Graphs debug not enabled, set with [graph].enable_debug_mode()", stacklevel=2)
            return
        warnings.warn("DEBUG: calling debug_dump()", stacklevel=2)
        if self._devfix_captured:
            warnings.warn(f"DEBUG: calling cudaGraphDebugDotPrint() with {debug_path}", stacklevel=2)
            Path(debug_path).write_text(_dot(self._devfix_steps), encoding="utf-8")

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


_EMPTY = (
    "The CUDA Graph is empty. This usually means that the graph was attempted to be captured on wrong device or stream."
)


class _Debugging:
    enabled = False


def _dot(steps: list[Any]) -> str:
    names = [str(step[0]).replace('"', "'") for step in steps]
    nodes = [f'"graph_0_node_{place}"[label="{place}\n{name}"];' for place, name in enumerate(names)]
    edges = [f'"graph_0_node_{place}" -> "graph_0_node_{place + 1}";' for place in range(len(names) - 1)]
    return "\n".join(("digraph dot {", 'subgraph cluster_0 { label="graph_0"', *nodes, *edges, "}", "}", ""))


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
        _made[part.CUDAGraph] = rebase(part.CUDAGraph, Graph)
    graph = _made[part.CUDAGraph]
    for owner in (torch.cuda, part):
        replace(owner, "CUDAGraph", graph)
    replace(part, "_graph_pool_handle", _pool_handle)
    _Debugging.enabled = False
    recording.recordings.clear()
    _forget_stream()  # which belongs to a world
    undo_with(_forget_stream)
