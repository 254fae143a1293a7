"""Resolve names by a file's imports, and add constants that an edit needs."""

from __future__ import annotations

import builtins
from collections.abc import Iterator

import libcst as cst

from devfix.source import File, code, last_name


def calls(file: File, *names: str, within: cst.CSTNode | None = None) -> Iterator[cst.Call]:
    """Yield the calls of functions with these full names, in `within` or else the whole file.

    A function or class that the file itself defines has the name that it has there: "collate", "Net.make". The name of
    a function of Python, such as "open", never means one of the file.

    >>> file = File("m.py", b"import torch as t\\ndef show(w): ...\\nweights = t.load('w.pt')\\nshow(weights)\\n")
    >>> [file.code(call) for call in calls(file, "torch.load", "torch.jit.load")]
    ["t.load('w.pt')"]
    >>> [file.code(call) for call in calls(file, "show")]
    ['show(weights)']
    """
    last = {name.rpartition(".")[2] for name in names}
    for node in file.within(within or file.module):
        # `import … as` can rename a function, but not a method or a member of a module.
        likely = isinstance(node, cst.Call) and (isinstance(node.func, cst.Name) or last_name(node.func) in last)
        if likely and isinstance(node, cst.Call):
            own = file.own_name(node.func)
            if file.qualified_name(node.func) in names or (own in names and not hasattr(builtins, own)):
                yield node


def imported_name(file: File, name: str) -> str:
    """Return how a file can write a full name with its top-level imports; "" if it cannot.

    >>> file = File("m.py", b"import torch\\nfrom torch import nn as n\\n")
    >>> imported_name(file, "torch.device"), imported_name(file, "torch.nn.Linear"), imported_name(file, "numpy.array")
    ('torch.device', 'n.Linear', '')
    """
    found = []
    for whole, short in imported_names(file.module):
        if name == whole or name.startswith(f"{whole}."):
            found.append(short + name[len(whole) :])
    return min(found, key=len, default="")


def imported_names(module: cst.Module) -> Iterator[tuple[str, str]]:
    """Yield each name that a top-level import binds, as (full name, name in the file)."""
    lines = [line for line in module.body if isinstance(line, cst.SimpleStatementLine)]
    for statement in (each for line in lines for each in line.body):
        if isinstance(statement, cst.Import):
            for alias in statement.names:
                whole = alias.evaluated_name
                yield (whole, alias.evaluated_alias) if alias.evaluated_alias else (whole, whole)
        elif isinstance(statement, cst.ImportFrom) and not isinstance(statement.names, cst.ImportStar):
            if statement.module is None or statement.relative:
                continue
            origin = code(statement.module)
            for alias in statement.names:
                yield f"{origin}.{alias.evaluated_name}", alias.evaluated_alias or alias.evaluated_name


def with_constant(file: File, line: str) -> cst.Module:
    """Return the module with an assignment after its leading imports.

    >>> print(with_constant(File("m.py", b"import torch\\n\\nprint(1)\\n"), "device = torch.device(0)").code)
    import torch
    <BLANKLINE>
    device = torch.device(0)
    <BLANKLINE>
    print(1)
    <BLANKLINE>
    """
    statement = cst.parse_statement(line)
    assert isinstance(statement, cst.SimpleStatementLine)
    body = list(file.module.body)
    place = max((number + 1 for number, each in enumerate(body) if is_import(each)), default=0)
    new = statement.with_changes(leading_lines=[cst.EmptyLine()] if place else [])
    return file.module.with_changes(body=[*body[:place], new, *body[place:]])


def is_import(statement: cst.CSTNode) -> bool:
    """Return whether a line begins with an import."""
    return isinstance(statement, cst.SimpleStatementLine) and isinstance(statement.body[0], cst.Import | cst.ImportFrom)
