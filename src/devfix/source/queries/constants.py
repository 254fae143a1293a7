"""Find the constant that a name in a file means, through imports, and what else in the repository means the same."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import libcst as cst

from devfix.model import SourceLocation
from devfix.source.file import File
from devfix.source.queries.bound_names import is_local, root_name
from devfix.source.queries.modules import ImportedName, file_of_module, imported_as, star_imports
from devfix.source.queries.reading import assignments, is_read
from devfix.source.sources import Sources

_FOLLOWED = 8  # re-exports of one name


@dataclass(frozen=True)
class Constant:
    """A name that a module of the repository assigns when it is imported."""

    path: str
    name: str


def constant_of(file: File, text: str, sources: Sources) -> Constant | None:
    """Return the constant that a dotted name means at the top of a file; None if the repository does not assign it.

    >>> files = {"a.py": b"PI = 3\\n", "acme.py": b"from a import *\\n", "b.py": b"import acme as c\\n"}
    >>> sources = Sources(files.get, lambda texts: files)
    >>> constant_of(File("b.py", files["b.py"]), "c.PI", sources)
    Constant(path='a.py', name='PI')
    """
    return _find(file, text, sources, _FOLLOWED)


def reads_of_constants(file: File, wanted: Collection[Constant], sources: Sources) -> Iterator[cst.BaseExpression]:
    """Yield where the functions of a file read one of some constants, in source order.

    >>> file = File("a.py", b"PI = 3\\ndef f(x):\\n    return x * PI\\ndef g(PI):\\n    return PI\\n")
    >>> found = reads_of_constants(file, [Constant("a.py", "PI")], Sources(lambda path: file.data))
    >>> [file.line_of(node) for node in found]
    [3]
    """
    names = {each.name for each in wanted}
    known: dict[str, bool] = {}
    for node in file.within(file.module):
        if not isinstance(node, cst.Name | cst.Attribute) or not is_read(file, node):
            continue
        function, text = file.function_of(node), file.code(node)
        if function is None or not _may_mean(file, text, names) or is_local(function, root_name(text)):
            continue
        if text not in known:
            known[text] = constant_of(file, text, sources) in wanted
        if known[text]:
            yield node


def _may_mean(file: File, text: str, names: Collection[str]) -> bool:
    """Return whether a dotted name ends in one of some names, or is imported by another name than that."""
    if text.rpartition(".")[2] in names:
        return True
    found = imported_as(file, text) if text.isidentifier() else None
    return found is not None and found.parts[-1] in names


def _find(file: File, text: str, sources: Sources, left: int) -> Constant | None:
    given = assignments(file, text) if text.isidentifier() else []
    if any(file.function_of(each) is None and file.class_of(each) is None for each in given):
        return Constant(file.path, text)
    found = imported_as(file, text)
    if found is not None:
        return _locate(found, file, sources, left)
    names = [ImportedName((*each.parts, text), each.is_path) for each in star_imports(file)]
    every = (_locate(name, file, sources, left) for name in names)
    return next(filter(None, every), None) if text.isidentifier() else None


def _locate(name: ImportedName, file: File, sources: Sources, left: int) -> Constant | None:
    """Return what a full name means: the longest part of it that is a module's, and the rest in there."""
    for count in range(len(name.parts) - 1, 0, -1) if left else ():
        path = file_of_module(name, count, sources.paths(), file.path)
        there = sources.file(SourceLocation(path, 1, owned=True)) if path else None
        if there is not None:
            return _find(there, ".".join(name.parts[count:]), sources, left - 1)
    return None
