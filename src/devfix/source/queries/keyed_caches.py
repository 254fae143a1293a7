"""Find the values that a function keeps in a dictionary, one for each key, for later calls."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from devfix.model import is_in_place
from devfix.source import File, last_name
from devfix.source.queries.bound_names import is_local
from devfix.source.queries.reading import assignments, is_read, parameters
from devfix.source.queries.writes import is_written

LOOKS = ("get", "setdefault", "pop")  # the methods of a dictionary that take a key
WEAK = "WeakKeyDictionary"  # refuses a tuple as a key
OTHER = re.compile(r"(Module|Parameter|Buffer|Tensor)Dict")  # keeps what moves with a module, or has moves of its own


@dataclass(frozen=True)
class KeyedCache:
    """A value that a function keeps by a key: `if key not in cache: cache[key] = value`.

    `keys` are all nodes at which the function names the key of the dictionary, and `value` is computed where there is
    none yet. `is_weak`: the dictionary refers to its keys weakly, so that a key can be no tuple.

    >>> file = File("m.py", b"known = {}\\ndef g(n):\\n    return known.setdefault(n, f(n))\\n")
    >>> kept = next(keyed_caches(file, file.module.body[1]))
    >>> kept.holder, kept.key, file.code(kept.value)
    ('known', 'n', 'f(n)')
    """

    file: File
    function: cst.FunctionDef
    holder: str
    key: str
    keys: tuple[cst.BaseExpression, ...]
    value: cst.BaseExpression
    is_weak: bool = False


def keyed_caches(file: File, function: cst.FunctionDef) -> Iterator[KeyedCache]:
    """Yield what a function keeps for later calls in dictionaries that nothing else in the file reads.

    Nothing is yielded for what is written into later, such as a total, nor for the containers of modules.

    >>> text = b"known = {}\\ndef g(n):\\n    if n not in known:\\n        known[n] = f(n)\\n    return known[n]\\n"
    >>> file = File("m.py", text)
    >>> [(each.holder, each.key, len(each.keys)) for each in keyed_caches(file, file.module.body[1])]
    [('known', 'n', 3)]
    """
    stored = [each for node in file.within(function) for each in _stores_in(file, node)]
    for holder, key, value in stored:
        text, whole = file.code(key), file.code(holder)
        is_once = sum(file.code(other) == whole for other, _, _ in stored) == 1
        made = _dictionary_code(file, holder)
        if not is_once or not _outlives(file, function, holder) or OTHER.search(made):
            continue
        keys = [_key(file, node) for node in _uses(file, holder) if not _is_of_all(file, node)]
        inside = [each for each in keys if each is not None and file.function_of(each) is function]
        computed = _stored_expression(file, function, value)
        names = _names(file, function, whole)
        if (
            len(inside) == len(keys)
            and all(file.code(each) == text for each in inside)
            and _is_looked_up(file, function, holder)
            and not any(is_written(file, function, each) for each in names)
            and not any(_is_changed(file, node) for node in _uses(file, holder))
            and not (isinstance(computed, cst.Name) and computed.value == "None")
        ):
            yield KeyedCache(file, function, whole, text, tuple(inside), computed, WEAK in made)


def _stores_in(
    file: File, node: cst.CSTNode
) -> Iterator[tuple[cst.BaseExpression, cst.BaseExpression, cst.BaseExpression]]:
    """Yield the dictionary, the key and the value of `cache[key] = value` and of `cache.setdefault(key, value)`."""
    if isinstance(node, cst.Assign):
        for each in node.targets:
            index = _index(each.target)
            if index is not None and isinstance(each.target, cst.Subscript):
                yield each.target.value, index, node.value
    called = node.func if isinstance(node, cst.Call) and len(node.args) == 2 else None
    if isinstance(node, cst.Call) and isinstance(called, cst.Attribute) and called.attr.value == "setdefault":
        yield called.value, node.args[0].value, node.args[1].value


def _index(node: cst.CSTNode | None) -> cst.BaseExpression | None:
    """Return the only index of a subscript that is no slice."""
    if not isinstance(node, cst.Subscript) or len(node.slice) != 1:
        return None
    index = node.slice[0].slice
    return index.value if isinstance(index, cst.Index) and index.star is None else None


def _outlives(file: File, function: cst.FunctionDef, holder: cst.BaseExpression) -> bool:
    """Return whether a dictionary outlives the calls of a function, which no caller gives."""
    root: cst.CSTNode = holder
    while isinstance(root, cst.Attribute | cst.Subscript):
        root = root.value
    if not isinstance(root, cst.Name):
        return False
    if isinstance(holder, cst.Name):
        return not is_local(function, root.value)
    return not is_local(function, root.value) or root.value in parameters(function)[:1]


def _dictionary_code(file: File, holder: cst.BaseExpression) -> str:
    """Return the code that the file assigns to a dictionary, by its last name."""
    name = holder.attr.value if isinstance(holder, cst.Attribute) else file.code(holder)
    found = [
        node.value
        for node in file.within(file.module)
        if isinstance(node, cst.Assign | cst.AnnAssign) and node.value is not None
        for target in ([each.target for each in node.targets] if isinstance(node, cst.Assign) else [node.target])
        if file.code(target).rpartition(".")[2] == name
    ]
    return " ".join(file.code(each) for each in found)


def _uses(file: File, holder: cst.BaseExpression) -> list[cst.BaseExpression]:
    """Return where the file reads a dictionary: a name, or an attribute of that name of any object."""
    if isinstance(holder, cst.Attribute):
        name = holder.attr.value
        found = [
            node for node in file.within(file.module) if isinstance(node, cst.Attribute) and node.attr.value == name
        ]
        nodes: list[cst.BaseExpression] = [*found]
    else:
        nodes = file.find(file.module, file.code(holder))
    return [node for node in nodes if is_read(file, node) or isinstance(file.parent(node), cst.Subscript)]


def _key(file: File, node: cst.BaseExpression) -> cst.BaseExpression | None:
    """Return the key by which a use of a dictionary reads or writes it; None if it uses it otherwise."""
    parent = file.parent(node)
    if isinstance(parent, cst.Subscript) and parent.value is node:
        return _index(parent)
    if isinstance(parent, cst.ComparisonTarget) and isinstance(parent.operator, cst.In | cst.NotIn):
        test = file.parent(parent)
        return test.left if isinstance(test, cst.Comparison) and len(test.comparisons) == 1 else None
    call = file.parent(parent) if isinstance(parent, cst.Attribute) else None
    if isinstance(call, cst.Call) and isinstance(parent, cst.Attribute) and call.func is parent and call.args:
        return call.args[0].value if parent.attr.value in LOOKS else None
    return None


def _is_of_all(file: File, node: cst.BaseExpression) -> bool:
    """Return whether a use of a dictionary does not depend on its keys: `cache.clear()`, `len(cache)`."""
    parent = file.parent(node)
    if isinstance(parent, cst.Arg):
        call = file.parent(parent)
        return isinstance(call, cst.Call) and last_name(call.func) == "len"
    return isinstance(parent, cst.Attribute) and parent.attr.value == "clear"


def _is_changed(file: File, node: cst.BaseExpression) -> bool:
    """Return whether code writes into an element of a dictionary: `known[key] += 1`, `known[key].zero_()`."""
    element = file.parent(node)
    parent = file.parent(element) if element is not None else None
    if isinstance(parent, cst.AugAssign):
        return parent.target is element
    return isinstance(parent, cst.Attribute) and parent.value is element and is_in_place(parent.attr.value)


def _names(file: File, function: cst.FunctionDef, holder: str) -> list[str]:
    """Return the names to which a function assigns what a dictionary keeps, or what it keeps there."""
    given = [each for each in file.within(function) if isinstance(each, cst.Assign) and file.find(each, holder)]
    targets = [each.target for node in given for each in node.targets]
    values = [each.value for each in given if _index(each.targets[0].target) is not None]
    return [each.value for each in (*targets, *values) if isinstance(each, cst.Name)]


def _is_looked_up(file: File, function: cst.FunctionDef, holder: cst.BaseExpression) -> bool:
    """Return whether a function asks whether there is a value for the key."""
    for node in file.find(function, file.code(holder)):
        parent = file.parent(node)
        if isinstance(parent, cst.ComparisonTarget):
            return True
        if isinstance(parent, cst.Attribute) and parent.attr.value in LOOKS:
            return True
    handlers = (each.type for each in file.within(function) if isinstance(each, cst.ExceptHandler))
    return any(each is not None and file.code(each) in ("KeyError", "LookupError") for each in handlers)


def _stored_expression(file: File, function: cst.FunctionDef, value: cst.BaseExpression) -> cst.BaseExpression:
    """Return the expression that computes a stored value: what its name was assigned last before."""
    if not isinstance(value, cst.Name):
        return value
    line = file.line_of(value)
    given = [each.value for each in assignments(file, value.value, function) if file.line_of(each) < line]
    return given[-1] if given and given[-1] is not None else value
