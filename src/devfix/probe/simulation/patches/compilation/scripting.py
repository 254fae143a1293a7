"""Queries of devices and layouts in scripts: C++ would tell those of the shell, so the script's graph calls Python.

A graph is changed before its first run, which creates its executor, and restored before it is saved or read.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from typing import Any

import torch

from ...accelerators import devices, kinds
from ...dispatcher import dispatch
from ...patching import replace, undo_with, wrap

_KINDS: tuple[Any, ...] = (torch._C.ScriptFunction, torch._C.ScriptMethod)
_READ = ("graph", "inlined_graph", "code", "code_with_constants")
_graph_of = {kind: kind.graph.fget for kind in _KINDS}  # PyTorch's own: those below restore what they return
_DEVICES = ("Device", "Device?", "Optional[Device]")
_LAZY = re.compile(r"\blazy:(\d+)")
_WORDLESS = "\nRuntimeError: \n"
_libraries: list[Any] = []
_changed: set[str] = set()  # the functions of the program, by their qualified names
_OPERATORS = {
    "is_cuda(Tensor x) -> bool": lambda x: x.is_cuda,
    "device(Tensor x) -> Device": lambda x: x.device,
    "cuda(Tensor(a) x) -> Tensor(a)": lambda x: x.cuda(),
    "layout(Tensor x) -> int": lambda x: x.layout,  # the shell of a compressed tensor is strided for C++
    "is_sparse_csr(Tensor x) -> bool": lambda x: x.is_sparse_csr,
    # The tensor is an argument so that a constant device is not resolved at compile time: "cuda" is the current one.
    "inner(Tensor x, Device? device) -> Device?": lambda x, device: None if device is None else devices.inner(device),
}
_QUERIES = ("is_cuda", "device", "layout", "is_sparse_csr")
_COMPRESSED = tuple(f"sparse_{layout}_tensor" for layout in ("csr", "csc", "bsr", "bsc", "compressed"))
_OPTIONS = "ScalarType? dtype, Layout? layout, Device? device, bool? pin_memory"
_SAME = {
    **{f"prim::{name}": f"devfix::{name}" for name in _QUERIES},
    **{f"aten::{name}": f"devfix::{name}" for name in ("cuda", *_COMPRESSED)},
}


def _compress(name: str) -> Any:
    """Return a constructor of compressed tensors for scripts, whose own compares devices below Python."""

    def make(compressed: Any, plain: Any, values: Any, *size: Any, **options: Any) -> Any:
        if name != "sparse_compressed_tensor":
            del options["layout"]
        return getattr(torch, name)(compressed, plain, values, *size, **options)

    return make


def _define() -> None:
    if _libraries:
        return
    library = torch.library.Library("devfix", "DEF")
    _libraries.append(library)
    for schema, answer in _OPERATORS.items():
        library.define(schema)
        _implement(schema.partition("(")[0], answer)
    for name in _COMPRESSED:
        for overload, size in ((name, ""), (f"{name}.size", ", int[] size")):
            given = f"Tensor compressed, Tensor plain, Tensor values{size}, *, {_OPTIONS}"
            library.define(f"{overload}({given}) -> Tensor")
            _implement(overload, _compress(name))


def _implement(name: str, answer: Any) -> None:
    """Let Python answer, also in inference mode, where a tensor of a GPU comes to the Python key first."""
    for key in ("CompositeImplicitAutograd", "Python"):
        _libraries[0].impl(name, answer, key)


def _exchange(graph: Any, old: str, new: str) -> None:
    for node in graph.findAllNodes(old):
        made = graph.create(new, list(node.inputs()), 1)
        made.copyMetadata(node)
        made.insertBefore(node)
        made.output().setType(node.output().type())
        node.output().replaceAllUsesWith(made.output())
        node.destroy()


def change(graph: Any) -> None:
    """Replace device queries of a graph by calls of Python."""
    for old, new in _SAME.items():
        _exchange(graph, old, new)
    for node in graph.findAllNodes("aten::to"):
        inputs = list(node.inputs())
        for place, value in enumerate(inputs):
            if place and str(value.type()) in _DEVICES and value.node().kind() != "devfix::inner":
                made = graph.create("devfix::inner", [inputs[0], value], 1)
                made.insertBefore(node)
                made.output().setType(value.type())
                node.replaceInput(place, made.output())


def change_back(graph: Any) -> None:
    """Restore the device queries of a graph."""
    for old, new in _SAME.items():
        _exchange(graph, new, old)
    for node in graph.findAllNodes("devfix::inner"):
        _, device = node.inputs()
        node.output().replaceAllUsesWith(device)
        node.destroy()


def _graph(function: Any) -> Any:
    return _graph_of[type(function)](function)


def _functions() -> list[Any]:
    """Return the functions and methods that the process has compiled from Python."""
    unit: Any = torch.jit._state._python_cu
    return list(unit.get_functions())


def _methods(module: Any) -> Iterator[Any]:
    """Yield the C++ methods of a scripted module and of those below it."""
    for name in module._method_names():
        yield module._get_method(name)
    for _, child in torch._C.ModuleDict(module).items():
        yield from _methods(child)


def _prepare(function: Any) -> None:
    """Change the graphs that a function may reach, before it runs."""
    _define()
    for each in _functions():
        name = each.qualified_name
        if name not in _changed:
            _changed.add(name)
            change(_graph(each))
    owner = getattr(function, "owner", None)
    if owner is None:
        change(_graph(function))
        return
    for method in _methods(owner):
        graph = _graph(method)
        if graph.findAllNodes("prim::CallFunction"):
            torch._C._jit_pass_inline(graph)  # functions of a loaded module cannot be reached otherwise
        change(graph)


class _Depth(threading.local):
    """The number of calls of compiled functions that run now: no frame of Python tells whose operators are theirs."""

    depth = 0


script_calls = _Depth()


def _count_call(original: Any) -> Any:
    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
        if _ready.get(id(self)) is not self:
            _prepare(self)
            _ready[id(self)] = self
        dispatch.latest.text = ""
        script_calls.depth += 1
        try:
            return original(self, *args, **kwargs)
        except RuntimeError as error:
            _complete(error)
            raise
        finally:
            script_calls.depth -= 1

    return __call__


def _complete(error: RuntimeError) -> None:
    """Add what the operator said to an error of TorchScript, which has no words for errors raised in Python."""
    text = str(error)
    if text.endswith(_WORDLESS) and dispatch.latest.text:
        error.args = (f"{text[:-1]}{dispatch.latest.text}\n",)


_ready: dict[int, Any] = {}


def as_written(function: Any = None, module: Any = None) -> None:
    """Restore a function's or a module's graphs, and those that they may reach, until they run again."""
    for each in (
        *_functions(),
        *(() if function is None else (function,)),
        *(() if module is None else _methods(module)),
    ):
        change_back(_graph(each))
    _changed.clear()
    _ready.clear()


def _reading(read: Any, name: str) -> Any:
    def get(self: Any) -> Any:
        if _changed or _ready:
            as_written(function=self, module=getattr(self, "owner", None))
        found = read(self)
        if name == "inlined_graph":
            change_back(found)  # a copy, with those of the functions in it that have been optimized
        return (_outward(found[0]), *found[1:]) if isinstance(found, tuple) else _outward(found)

    return get


def _outward(text: Any) -> Any:
    """Return a text with the device's own name, and anything else as it is."""
    return _LAZY.sub(rf"{kinds.now().name}:\1", text) if isinstance(text, str) else text


def _telling(original: Any) -> Any:
    def __repr__(self: Any) -> Any:
        return _outward(original(self))

    return __repr__


def _change_graph_back(original: Any) -> Any:
    def graph_for(*args: Any, **kwargs: Any) -> Any:
        graph = original(*args, **kwargs).copy()  # the executor goes on with its own
        change_back(graph)
        return graph

    return graph_for


def _saving(original: Any) -> Any:
    def save(self: Any, *args: Any, **kwargs: Any) -> Any:
        as_written(function=self)
        return original(self, *args, **kwargs)

    return save


def install() -> None:
    """Patch the calls of scripts, what is read of their graphs, and how functions are saved."""
    for kind in _KINDS:
        wrap(kind, "__call__", _count_call)
        wrap(kind, "graph_for", _change_graph_back)
        for name in _READ:
            if own := vars(kind).get(name):
                replace(kind, name, property(_reading(own.fget, name)))
    import torch.jit._fuser as fuser

    wrap(torch._C, "_last_executed_optimized_graph", _change_graph_back)
    for owner in (torch.jit, fuser):
        replace(owner, "last_executed_optimized_graph", torch._C._last_executed_optimized_graph)
    for kind in (torch._C.Graph, torch._C.Node, torch._C.Value, torch._C.Type):
        wrap(kind, "__repr__", _telling)
    for name in ("save", "save_to_buffer"):
        wrap(torch._C.ScriptFunction, name, _saving)
    undo_with(as_written)
