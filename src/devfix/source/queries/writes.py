"""Detect writes into a tensor that others hold, which a copy would lose, and what a function writes into its own."""

from __future__ import annotations

from collections.abc import Callable, Collection

import libcst as cst

from devfix.model import is_in_place
from devfix.source import File, last_name
from devfix.source.queries.reading import assignments, is_read, parameters

KEEPING = frozenset({"append", "appendleft", "add", "insert", "setdefault", "update", "extend", "setattr"})


def is_written_below(file: File, node: cst.CSTNode, name: str) -> bool:
    """Return whether a function later writes into the object of a name that it was passed and did not create itself.

    A name that the function assigns may be bound to a copy, since no one else holds the object.

    >>> file = File("m.py", b"def f(caches, order):\\n    for cache in caches:\\n        cache[...] = cache[order]\\n")
    >>> read = file.find(file.module, "cache[order]")[0]
    >>> is_written_below(file, read, "cache"), is_written_below(file, read, "order")
    (True, False)
    """
    function = file.function_of(node)
    if function is None or assignments(file, name, function):
        return False
    first = file.line_of(file.statement_of(node) or node)
    return any(file.line_of(each) >= first and _writes(file, each, name) for each in file.within(function))


def is_written(file: File, within: cst.CSTNode, name: str, except_in: cst.CSTNode | None = None) -> bool:
    """Return whether code writes into the object of a name or attribute, outside of one of its parts.

    >>> file = File("m.py", b"if self.sum is None:\\n    self.sum = zeros(3)\\nself.sum += x\\n")
    >>> is_written(file, file.module, "self.sum"), is_written(file, file.module.body[0], "self.sum")
    (True, False)
    """
    nodes = (each for each in file.within(within) if _writes(file, each, name))
    return any(except_in is None or except_in not in file.ancestors(each) for each in nodes)


def is_alone(file: File, node: cst.CSTNode, name: str, makers: Collection[str]) -> bool:
    """Return whether a variable is all that holds, until a node has run, what calls of some functions give it.

    No row holds it then, and no other name.

    >>> file = File("m.py", b"def f(n):\\n    a, b, c = zeros(n), zeros(n), n[0]\\n    keep(d=[b])\\n    use\\n")
    >>> [is_alone(file, file.find(file.module, "use")[0], name, ["zeros"]) for name in "abc"]
    [True, False, False]
    """
    function = file.function_of(node)
    scope = function or file.module
    if function is not None and name in parameters(function):
        return False
    below = [*file.within(scope)]
    made = [_value_of(each, name) for each in below if isinstance(each, cst.Assign) and _binds(each, name)]
    is_made = bool(made) and all(isinstance(each, cst.Call) and last_name(each.func) in makers for each in made)
    is_item = any(isinstance(each, cst.For | cst.CompFor) and file.find(each.target, name) for each in below)
    holds = [each for each in file.find(scope, name) if _holds(file, each)]
    return is_made and not is_item and all(_is_past(file, node, each) for each in holds)


def _is_past(file: File, node: cst.CSTNode, later: cst.CSTNode) -> bool:
    """Return whether a read runs only after all runs of a node: it is below it, and no loop has both."""
    loops = {id(each) for each in file.loops_around(node)}
    is_repeated = any(id(each) in loops for each in file.loops_around(later))
    return file.line_of(later) > file.line_of(node) and not is_repeated


def _holds(file: File, node: cst.BaseExpression) -> bool:
    """Return whether a read of a variable lets something else hold its object: `a = x`, `[x]`, `rows.append(x)`."""
    parent = file.parent(node)
    if isinstance(parent, cst.Arg):
        call = file.parent(parent)
        return isinstance(call, cst.Call) and last_name(call.func) in KEEPING
    if isinstance(parent, cst.Element | cst.DictElement):
        around = file.statement_of(node)
        is_returned = isinstance(around, cst.SimpleStatementLine) and isinstance(around.body[0], cst.Return)
        return is_read(file, node) and not is_returned
    return isinstance(parent, cst.Assign) and parent.value is node


def _value_of(assign: cst.Assign, name: str) -> cst.BaseExpression | None:
    """Return what a statement assigns to a variable; None if that has no expression of its own, or another name too."""
    target, value = assign.targets[0].target, assign.value
    if isinstance(target, cst.Tuple) and isinstance(value, cst.Tuple):
        pairs = zip(target.elements, value.elements, strict=False)
        value = next((other.value for one, other in pairs if _reads(one.value, (name,))), value)
    return value if len(assign.targets) == 1 else None


def what_is_written(
    file: File, function: cst.FunctionDef, name: str, is_wanted: Callable[[cst.CSTNode], bool]
) -> list[cst.CSTNode]:
    """Return the wanted nodes of what a function writes into elements of its variable, and computes that from.

    Nothing if a variable that one of them leads to is read elsewhere as well.

    >>> text = b"def f(n):\\n    t = zeros(n)\\n    at = arange(n)\\n    t[:2] = sin(at)\\n    return t\\n"
    >>> file = File("m.py", text)
    >>> found = what_is_written(file, file.module.body[0], "t", lambda node: isinstance(node, cst.Call))
    >>> [file.code(each) for each in found]
    ['sin(at)', 'arange(n)']
    """
    below = [*file.within(function)]
    values = [each.value for each in below if isinstance(each, cst.Assign) and _is_into(each, name)]
    nodes: dict[str, list[cst.CSTNode]] = {}  # of what is assigned to each variable on the way
    for value in values:  # which grows
        for each in file.within(value):
            if isinstance(each, cst.Name) and each.value not in {name, *nodes} and is_read(file, each):
                given = [node.value for node in below if isinstance(node, cst.Assign) and _binds(node, each.value)]
                nodes[each.value] = [node for one in given for node in file.within(one)]
                values += [one for one in given if one not in values]
    leading: set[str] = set()
    for _ in nodes:
        leading |= {inner for inner in nodes if any(is_wanted(each) or _reads(each, leading) for each in nodes[inner])}
    inside = [each for value in values for each in file.within(value)]
    known = {id(each) for each in inside}
    reads = [each for inner in leading for each in file.find(function, inner) if is_read(file, each)]
    return [each for each in inside if is_wanted(each)] if all(id(each) in known for each in reads) else []


def _reads(node: cst.CSTNode, names: Collection[str]) -> bool:
    return isinstance(node, cst.Name) and node.value in names


def _is_into(assign: cst.Assign, name: str) -> bool:
    targets = [each.target for each in assign.targets if isinstance(each.target, cst.Subscript)]
    return any(isinstance(each.value, cst.Name) and each.value.value == name for each in targets)


def _binds(assign: cst.Assign, name: str) -> bool:
    """Return whether a statement assigns a variable, alone or beside others."""
    targets = [each.target for each in assign.targets]
    parts = [*targets, *(part.value for each in targets if isinstance(each, cst.Tuple) for part in each.elements)]
    return any(_reads(each, (name,)) for each in parts)


def _writes(file: File, node: cst.CSTNode, name: str) -> bool:
    """Return whether a node is `name[…] = …`, `name += …`, `name.add_(…)`, `F.relu_(name)` or `f(…, out=name)`."""
    if isinstance(node, cst.AssignTarget):
        return isinstance(node.target, cst.Subscript) and _is(file, node.target.value, name)
    if isinstance(node, cst.AugAssign):
        return _is(file, node.target, name)
    if isinstance(node, cst.Arg):
        return node.keyword is not None and node.keyword.value == "out" and _is(file, node.value, name)
    if isinstance(node, cst.Call):
        called = last_name(node.func)
        written = _write_target(file, node) if is_in_place(called) else None
        return written is not None and _is(file, written, name)
    return False


def _write_target(file: File, call: cst.Call) -> cst.BaseExpression | None:
    """Return what an in-place call writes into: the argument of an imported function, or a method's object."""
    if file.qualified_name(call.func):
        return call.args[0].value if call.args else None
    return call.func.value if isinstance(call.func, cst.Attribute) else None


def _is(file: File, node: cst.CSTNode, name: str) -> bool:
    """Return whether a node is the name, or a view of its value."""
    while isinstance(node, cst.Subscript) or (isinstance(node, cst.Attribute) and node.attr.value in ("data", "T")):
        node = node.value
    return isinstance(node, cst.BaseExpression) and file.code(node) == name
