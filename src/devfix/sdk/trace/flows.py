"""Follow parameters in a function: what is computed of them, where that meets other tensors, and who keeps it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import libcst as cst

from devfix.source import File, last_name
from devfix.source.edits.device_arguments import device_text
from devfix.source.edits.expressions import is_move
from devfix.source.file import Statement
from devfix.source.queries.reading import assigned_targets, assignments, is_read, method_call_on
from devfix.source.queries.writes import KEEPING, is_written

SAME_EVERYWHERE = {"len", "isinstance", "type", "shape", "size", "dim", "ndim", "numel", "stride", "dtype"}
HOST_METHODS = frozenset({"numpy", "tolist", "item", "cpu", "data_ptr", "pin_memory", "storage", "untyped_storage"})
HOST_CALLS = frozenset((
    "int", "float", "bool", "str", "list", "tuple", "set", "range", "sorted", "enumerate", "zip", "iter", "print", "id",
    "hash", "format", "pack_padded_sequence",
))  # fmt: skip
ITSELF = frozenset({"grad", "is_leaf", "is_cuda", "is_cpu", "retain_grad", "register_hook", "backward"})  # of this one
HOLDING = KEEPING | {"save_for_backward", "grad"}
FRESH = (cst.BinaryOperation, cst.UnaryOperation, cst.Comparison)  # whose result nothing else holds


def is_on_device(file: File, node: cst.BaseExpression) -> bool:
    """Return whether a use depends on tensor data rather than metadata (len, type, shape).

    >>> file = File("m.py", b"f(len(x), y, z.shape)\\n")
    >>> [is_on_device(file, file.find(file.module, name)[0]) for name in "xyz"]
    [False, True, False]
    """
    parent = file.parent(node)
    if isinstance(parent, cst.Attribute):
        return parent.attr.value not in SAME_EVERYWHERE
    if isinstance(parent, cst.Arg):
        call = file.parent(parent)
        return not (isinstance(call, cst.Call) and last_name(call.func) in SAME_EVERYWHERE)
    return not isinstance(parent, cst.Comparison) or not any(
        isinstance(each.operator, cst.Is | cst.IsNot) for each in parent.comparisons
    )


@dataclass(frozen=True)
class Flow:
    """The values that a function computes of some parameters alone: reads, names, and where they meet others."""

    reads: tuple[cst.BaseExpression, ...]
    names: frozenset[str]
    meetings: tuple[Statement, ...]


def flow_of(file: File, function: cst.FunctionDef, given: Collection[str], others: Collection[str]) -> Flow:
    """Return the flow of some parameters, where `others` are the expressions of the tensors and modules beside them.

    What is computed with one of those too is another one. Statements are followed as they stand; loops run twice.

    >>> text = b"def f(x, w):\\n    n, a = w.shape[0], w.abs()\\n    y = x * a\\n    return y + w.sum(), n, y\\n"
    >>> file = File("m.py", text)
    >>> found = flow_of(file, file.module.body[0], ["w"], ["x"])
    >>> sorted(found.names), [file.line_of(each) for each in found.meetings]
    (['a', 'n', 'w'], [3, 4])
    """
    steps = {each: _names(file, each) for each in file.within(function) if isinstance(each, Statement)}
    steps.pop(function, None)
    texts = {*given, *others, *(name for names in steps.values() for name in names)}
    reads: dict[Statement, list[tuple[str, cst.BaseExpression, str]]] = {}
    for text in texts:
        for node in file.find(function, text):
            statement = file.statement_of(node)
            if statement is not None and _is_used(file, node):
                reads.setdefault(statement, []).append((text, node, _move_of(file, node)))
    found: dict[cst.BaseExpression, None] = {}
    meetings: dict[Statement, None] = {}
    names = set(given)
    stray, met = set(given), set(others)
    for _ in range(2):
        for statement, bound in steps.items():
            own = reads.get(statement, ())
            here = [node for text, node, move in own if text in stray and not move]
            meets = any(text in met and move != "cpu" for text, _, move in own)
            found.update(dict.fromkeys(here))
            if here and meets:
                meetings[statement] = None
            stray, met = stray - bound, met - bound
            if meets:
                met |= bound
            elif here:
                stray |= bound
                names |= bound
    return Flow(tuple(found), frozenset(names), tuple(meetings))


def _names(file: File, statement: Statement) -> set[str]:
    """Return the names that a statement binds or changes at its own line."""
    lines = statement.body if isinstance(statement, cst.SimpleStatementLine) else [statement]
    parts = [target for each in lines for target in assigned_targets(each)]
    parts += [each.target for each in lines if isinstance(each, cst.AugAssign)]
    for each in parts:  # which grows
        if isinstance(each, cst.Tuple | cst.List):
            parts += [element.value for element in each.elements]
    return {each.value for each in parts if isinstance(each, cst.Name)}


def _is_used(file: File, node: cst.BaseExpression) -> bool:
    """Return whether the data of an expression is read, or written to by `+=`."""
    return isinstance(file.parent(node), cst.AugAssign) or (is_read(file, node) and is_on_device(file, node))


def _move_of(file: File, node: cst.BaseExpression) -> str:
    """Return the device to which a use moves an expression, as source text; "" if it does not."""
    call = method_call_on(file, node)
    return device_text(call).strip("\"'") if call is not None and is_move(call) else ""


def is_tied_to_its_place(file: File, function: cst.FunctionDef, flow: Flow) -> bool:
    """Return whether a function needs a flow on the host, or the very tensors that it was given: copies would not do.

    It reads them as numbers, writes into them, keeps or returns them, or asks where they are.

    >>> text = b"def f(a, b, c, d, e):\\n    a.T.tolist()\\n    b[0] = 1\\n    self.c = c\\n    return d, e + 1\\n"
    >>> file = File("m.py", text)
    >>> function = file.module.body[0]
    >>> [is_tied_to_its_place(file, function, flow_of(file, function, [name], ())) for name in "abcde"]
    [True, True, True, True, False]
    """
    written = (name for name in flow.names if is_written(file, function, name))
    if any(not _is_fresh(file, function, name) for name in written):
        return True
    return any(_is_kept(file, node) or is_for_host(file, node) for node in flow.reads)


def _is_fresh(file: File, function: cst.FunctionDef, name: str) -> bool:
    """Return whether all that a function gives a name are results of arithmetic, which nothing else holds."""
    given = assignments(file, name, function)
    return bool(given) and all(isinstance(each.value, FRESH) for each in given)


def _is_kept(file: File, node: cst.BaseExpression) -> bool:
    """Return whether something else than a name holds a tensor from here on: `return x`, `self.x = x`, `add([x])`."""
    parent: cst.CSTNode | None = file.parent(node)
    while isinstance(parent, cst.Element | cst.DictElement | cst.StarredElement | cst.Tuple | cst.List | cst.Dict):
        node, parent = parent, file.parent(parent)  # type: ignore[assignment]
    if isinstance(parent, cst.Arg):
        call = file.parent(parent)
        return isinstance(call, cst.Call) and last_name(call.func) in HOLDING
    if isinstance(parent, cst.Assign) and parent.value is node:
        return not isinstance(node, cst.Name) or not all(isinstance(each.target, cst.Name) for each in parent.targets)
    return isinstance(parent, cst.Return | cst.Yield | cst.FormattedStringExpression)


def is_for_host(file: File, node: cst.BaseExpression) -> bool:
    """Return whether an expression, or a view of it, is read as numbers or asked where it is.

    >>> file = File("m.py", b"f(x.T.numpy(), int(y), z.exp())\\n")
    >>> [is_for_host(file, file.find(file.module, name)[0]) for name in "xyz"]
    [True, True, False]
    """
    parent: cst.CSTNode | None = file.parent(node)
    while isinstance(parent, cst.Attribute | cst.Subscript) and parent.value is node:
        name = parent.attr.value if isinstance(parent, cst.Attribute) else ""
        if name in HOST_METHODS | ITSELF:
            return True
        if name == "device":
            return _is_compared(file, parent)
        if name in SAME_EVERYWHERE:
            return False
        node, parent = parent, file.parent(parent)
        if isinstance(parent, cst.Call) and parent.func is node:
            node, parent = parent, file.parent(parent)
    call = file.parent(parent) if isinstance(parent, cst.Arg) else None
    if isinstance(call, cst.Call):
        return last_name(call.func) in HOST_CALLS or file.qualified_name(call.func).startswith(("numpy.", "scipy."))
    return isinstance(parent, cst.For | cst.CompFor) and parent.iter is node


def _is_compared(file: File, node: cst.CSTNode) -> bool:
    """Return whether a device is asked for, `x.device == other` or `x.device.type`, and not given to another tensor."""
    parent = file.parent(node)
    return isinstance(parent, cst.Comparison | cst.ComparisonTarget | cst.Attribute)
