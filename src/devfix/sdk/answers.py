"""What a function answers with: the part of its returned values that a caller goes on with."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devfix.model import Binding
from devfix.sdk.edits import argument
from devfix.sdk.holders import classes_called
from devfix.sdk.reading import assignments, definition
from devfix.source import File, Sources

Part = int | str | None  # of a tuple by its number, of an object or dict by its name, or all of it


def class_of(binding: Binding, source: Sources) -> tuple[File, cst.ClassDef] | None:
    """The editable class of an object or module that is in scope; None where it is not known.

    >>> file, node = class_of(binding_at(failure, failure.at, "self"), source)
    >>> file.path, node.name.value
    ('main.py', 'Model')
    """
    for event in binding.history[:1]:
        for place in event.places[:1]:
            file = source.file(place) if place.owned else None
            for found in classes_called(file, binding.type) if file is not None else ():
                return file, found  # type: ignore[return-value]
    return None


def methods_called(file: File, holder: cst.ClassDef, called: str) -> list[cst.FunctionDef]:
    """The method of a class that runs where `called` is, which is "" where the object itself is called.

    >>> file, holder = source.file(failure.at), definition(source.file(failure.at), "Model")
    >>> [each.name.value for each in methods_called(file, holder, "")]
    ['forward']
    """
    names = [called] if called else ["__call__", "forward"]
    prefix = ".".join(
        each.name.value for each in reversed([holder, *file.ancestors(holder)]) if isinstance(each, cst.ClassDef)
    )
    found = (definition(file, f"{prefix}.{name}") for name in names)
    return [each for each in found if isinstance(each, cst.FunctionDef)]


def answers(file: File, function: cst.FunctionDef, part: Part = None) -> list[cst.BaseExpression]:
    """The expressions that stand for a part of what a function returns or yields; empty where one return has none.

    `part` is a number for an element of a tuple, a name for what a caller reads as `.name` or `["name"]`, None for all.

    >>> file = File("m.py", b"def f(x):\\n    y = x + 1\\n    return y, None\\n")
    >>> [file.code(each) for each in answers(file, definition(file, "f"), 0)]
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


def _part(
    file: File, function: cst.FunctionDef, value: cst.BaseExpression, part: Part, steps: int = 2
) -> cst.BaseExpression | None:
    if part is None:
        return None if isinstance(value, cst.Tuple | cst.List | cst.Dict) else value
    if isinstance(value, cst.Tuple) and isinstance(part, int):
        return value.elements[part].value if part < len(value.elements) else None
    if isinstance(value, cst.Dict) and isinstance(part, str):
        return next((value for key, value in _items(value) if key == part), None)
    if isinstance(value, cst.Call) and isinstance(part, str):
        found = argument(value, part)
        return found.value if found is not None else None
    if isinstance(value, cst.Name) and steps:
        before = [each.value for each in assignments(file, value.value, function)]
        if len(before) == 1 and before[0] is not None:
            return _part(file, function, before[0], part, steps - 1)
    return None


def _items(value: cst.Dict) -> Iterator[tuple[object, cst.BaseExpression]]:
    for each in value.elements:
        if isinstance(each, cst.DictElement) and isinstance(each.key, cst.SimpleString):
            yield each.key.evaluated_value, each.value
