"""Device queries in scripts: C++ would return the lazy device, so the script's graph calls Python instead.

A graph is changed before its first run, which creates its executor, and restored before it is saved.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from ...accelerators import devices
from ...patching import undo_with, wrap

_libraries: list[Any] = []
_changed: set[str] = set()  # the functions of the program, by their qualified names
_OPERATORS = {
    "is_cuda(Tensor x) -> bool": lambda x: x.is_cuda,
    "device(Tensor x) -> Device": lambda x: x.device,
    "cuda(Tensor(a) x) -> Tensor(a)": lambda x: x.cuda(),
    # The tensor is an argument so that a constant device is not resolved at compile time: "cuda" is the current one.
    "inner(Tensor x, Device? device) -> Device?": lambda x, device: None if device is None else devices.inner(device),
}
_SAME = {"prim::is_cuda": "devfix::is_cuda", "prim::device": "devfix::device", "aten::cuda": "devfix::cuda"}


def _define() -> None:
    if _libraries:
        return
    library = torch.library.Library("devfix", "DEF")
    _libraries.append(library)
    for schema, answer in _OPERATORS.items():
        library.define(schema)
        library.impl(schema.partition("(")[0], answer, "CompositeImplicitAutograd")


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
            if place and str(value.type()) in ("Device", "Device?", "Optional[Device]"):
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
            change(each.graph)
    owner = getattr(function, "owner", None)
    if owner is None:
        change(function.graph)
        return
    for method in _methods(owner):
        if method.graph.findAllNodes("prim::CallFunction"):
            torch._C._jit_pass_inline(method.graph)  # functions of a loaded module cannot be reached otherwise
        change(method.graph)


def _running(original: Any) -> Any:
    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
        if _ready.get(id(self)) is not self:
            _prepare(self)
            _ready[id(self)] = self
        return original(self, *args, **kwargs)

    return __call__


_ready: dict[int, Any] = {}


def as_written(function: Any = None, module: Any = None) -> None:
    """Restore a function's or a module's graphs, and those that they may reach, until they run again."""
    for each in (
        *_functions(),
        *(() if function is None else (function,)),
        *(() if module is None else _methods(module)),
    ):
        change_back(each.graph)
    _changed.clear()
    _ready.clear()


def _saving(original: Any) -> Any:
    def save(self: Any, *args: Any, **kwargs: Any) -> Any:
        as_written(function=self)
        return original(self, *args, **kwargs)

    return save


def install() -> None:
    """Patch the calls of scripts, and how functions are saved."""
    for kind in (torch._C.ScriptFunction, torch._C.ScriptMethod):
        wrap(kind, "__call__", _running)
    for name in ("save", "save_to_buffer"):
        wrap(torch._C.ScriptFunction, name, _saving)
    undo_with(as_written)
