"""Find the calls that construct a class out of a table of classes: `make("point", size=3)`."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devfix.source import File, last_name
from devfix.source.queries.repository import Definition, Repository


def calls_of_factories(repository: Repository, holder: Definition) -> Iterator[tuple[File, cst.Call]]:
    """Yield the calls of functions that construct a class, among others, with the `**` arguments that they get.

    They look the class up in a dictionary, in which it is put by name or by its decorator.

    >>> list(calls_of_factories(ctx.repository, ctx.repository.definition("main.Model")))
    []
    """
    for file in repository.sources.containing("](", most=None):
        for function in file.within(file.module, cst.FunctionDef):
            star = function.params.star_kwarg
            tables = _tables_called(file, function, star.name.value) if star is not None else []
            if any(_is_in_table(repository, holder, each) for each in tables):
                yield from repository.callers(Definition(file, function))


def _tables_called(file: File, function: cst.FunctionDef, options: str) -> list[str]:
    """Return the dictionaries of whose elements a function calls one with all its options: `TABLE[name](**options)`."""
    found = []
    for call in file.own_nodes(function, cst.Call):
        is_given = any(each.star == "**" and file.code(each.value) == options for each in call.args)
        if is_given and isinstance(call.func, cst.Subscript) and isinstance(call.func.value, cst.Name | cst.Attribute):
            found.append(last_name(call.func.value))
    return found


def _is_in_table(repository: Repository, holder: Definition, table: str) -> bool:
    """Return whether a class is put into a dictionary of a name: by name, or by a function that decorates it."""
    name = holder.node.name.value
    decorators = {last_name(_callee(each.decorator)) for each in holder.node.decorators}
    for file in repository.sources.containing(table, most=None):
        for assigned in file.within(file.module, cst.Assign):
            targets = [each.target for each in assigned.targets]
            is_whole = any(last_name(each) == table for each in targets if isinstance(each, cst.Name | cst.Attribute))
            is_element = any(last_name(each.value) == table for each in targets if isinstance(each, cst.Subscript))
            if (is_whole or is_element) and file.find(assigned.value, name):
                return True
            around = [each for each in file.ancestors(assigned) if isinstance(each, cst.FunctionDef)]
            if is_element and any(each.name.value in decorators for each in around):
                return True
    return False


def _callee(decorator: cst.BaseExpression) -> cst.BaseExpression:
    return decorator.func if isinstance(decorator, cst.Call) else decorator
