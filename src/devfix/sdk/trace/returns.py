"""Find the expressions that a function returns for the part of its result that a caller uses."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devfix.model import ScopeVariable
from devfix.sdk.trace.holders import classes_called
from devfix.source import File, Sources
from devfix.source.edits.expressions import argument
from devfix.source.queries.reading import assigned_values

Part = int | str | None  # the index of a tuple, the name of an object's or dictionary's item, or everything


def class_of(binding: ScopeVariable, source: Sources) -> tuple[File, cst.ClassDef] | None:
    """Return the editable class of an object or module in scope; None if unknown.

    >>> file, node = class_of(binding_at(failure, failure.at, "self"), source)
    >>> file.path, node.name.value
    ('main.py', 'Model')
    """
    for place in binding.history[0].places if binding.history else ():
        file = source.file(place)
        found = classes_called(file, binding.type) if file is not None else []
        if file is not None and found:
            return file, found[0]
    return None


def methods_called(file: File, holder: cst.ClassDef, called: str) -> list[cst.FunctionDef]:
    """Return the method of a class that runs for the call `called`, which is "" if the object itself is called.

    >>> file, holder = source.file(failure.at), definition(source.file(failure.at), "Model")
    >>> [each.name.value for each in methods_called(file, holder, "")]
    ['forward']
    """
    names = [called] if called else ["__call__", "forward"]
    found = [each for each in file.within(holder) if isinstance(each, cst.FunctionDef) and each.name.value in names]
    return [each for each in found if file.class_of(each) is holder and file.function_of(each) is None]


def return_values(file: File, function: cst.FunctionDef, part: Part = None) -> list[cst.BaseExpression]:
    """Return the expressions for a part of what a function returns or yields; empty if one return lacks the part.

    `part` is a number for an element of a tuple, a name for what a caller reads as `.name` or `["name"]`, None for all.

    >>> file = File("m.py", b"def f(x):\\n    y = x + 1\\n    return y, None\\n")
    >>> [file.code(each) for each in return_values(file, definition(file, "f"), 0)]
    ['y']
    """
    given = [
        node.value
        for node in file.within(function)
        if isinstance(node, cst.Return | cst.Yield)
        and file.function_of(node) is function
        and isinstance(node.value, cst.BaseExpression)
        and file.code(node.value) != "None"
    ]
    found = [_part(file, function, each, part) for each in given]
    return [each for each in found if each is not None] if all(found) else []


def _part(file: File, function: cst.FunctionDef, value: cst.BaseExpression, part: Part) -> cst.BaseExpression | None:
    if part is None:
        return None if isinstance(value, cst.Tuple | cst.List | cst.Dict) else value
    if isinstance(value, cst.Name):
        given = assigned_values(file, value.value, function)
        value = given[0] if len(given) == 1 else value
    if isinstance(part, str):
        return _find_named(value, part)
    first = value.elements[: part + 1] if isinstance(value, cst.Tuple | cst.List) else ()
    return first[part].value if len(first) > part and all(isinstance(each, cst.Element) for each in first) else None


def _find_named(value: cst.BaseExpression, name: str) -> cst.BaseExpression | None:
    if isinstance(value, cst.Dict):
        return next((value for key, value in _items(value) if key == name), None)
    found = argument(value, name) if isinstance(value, cst.Call) else None
    return found.value if found is not None else None


def _items(value: cst.Dict) -> Iterator[tuple[object, cst.BaseExpression]]:
    for each in value.elements:
        if isinstance(each, cst.DictElement) and isinstance(each.key, cst.SimpleString):
            yield each.key.evaluated_value, each.value
