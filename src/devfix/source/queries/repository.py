"""Queries to all files of the repository: where a name is defined, who calls a function, what a class derives from."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import libcst as cst
from libcst.helpers import get_full_name_for_node

from devfix.model import SourceLocation
from devfix.source.file import File
from devfix.source.queries.modules import ImportedName, file_of_module, imported_as
from devfix.source.queries.reading import assignments, definition
from devfix.source.sources import Sources
from devfix.source.text import last_name

_FOLLOWED = 8  # re-exports of one name, and steps from a name to the class of its value
_METHODS = frozenset({"property", "staticmethod", "classmethod", "abstractmethod", "no_grad", "inference_mode"})
CALLED = ("forward", "__call__")  # what runs if an object itself is called
# Methods of a module that return the module itself.
ITSELF = ("to", "cuda", "cpu", "eval", "train", "half", "float", "double", "bfloat16", "requires_grad_", "apply")


@dataclass(frozen=True, eq=False)
class Definition:
    """A function or class of the repository: its file and its node.

    >>> found = ctx.repository.definition("main.Model.forward")
    >>> found.file.path, found.name, found.holder.name
    ('main.py', 'Model.forward', 'Model')
    """

    file: File
    node: cst.FunctionDef | cst.ClassDef

    @property
    def name(self) -> str:
        """The name in its file: "Net.forward"."""
        around = (each for each in self.file.ancestors(self.node) if isinstance(each, cst.FunctionDef | cst.ClassDef))
        return ".".join([*[each.name.value for each in around][::-1], self.node.name.value])

    @property
    def holder(self) -> Definition | None:
        """The class of a method; None for other definitions."""
        around = self.file.ancestors(self.node)
        inner = next((each for each in around if isinstance(each, cst.FunctionDef | cst.ClassDef)), None)
        is_method = isinstance(self.node, cst.FunctionDef) and isinstance(inner, cst.ClassDef)
        return Definition(self.file, inner) if is_method and inner is not None else None

    def is_same(self, other: object) -> bool:
        """Return whether both are one definition."""
        return isinstance(other, Definition) and other.node is self.node


class Repository:
    """The files of the repository, and what follows from all of them together.

    Names are followed through imports, relative ones and re-exports too. A class that the repository does not define,
    such as an installed one, is its full name: "torch.nn.Module".

    >>> [file.path for file in ctx.repository.files()]
    ['main.py']
    >>> model = ctx.repository.definition("main.Model")
    >>> [each if isinstance(each, str) else each.name for each in ctx.repository.mro(model)]
    ['Model', 'torch.nn.Module']
    >>> forward = ctx.repository.method(model, "forward")
    >>> [(file.path, file.code(call)) for file, call in ctx.repository.callers(forward)]
    [('main.py', 'model(torch.ones(2, 8).to("cuda"))')]
    >>> file = model.file
    >>> ctx.repository.class_of(file, file.find(file.module, "self.scale")[-1])
    'torch.nn.Parameter'
    """

    def __init__(self, sources: Sources) -> None:
        self.sources = sources

    def files(self, folder: str = "") -> Iterator[File]:
        """Yield the editable Python files below a folder, parsed one after the other."""
        for path in self.sources.paths():
            if path.startswith(folder.rstrip("/") + "/" if folder else ""):
                file = self.sources.file(SourceLocation(path, 1, owned=True))
                if file is not None:
                    yield file

    def definition(self, name: str) -> Definition | None:
        """Return the function or class of a full name ("acme.models.Net"), through re-exports; None without one."""
        return self._locate(ImportedName(tuple(name.split("."))), None, _FOLLOWED)

    def resolve(self, file: File, node: cst.CSTNode) -> Definition | None:
        """Return the function or class that a name in a file means; None if the repository does not define it."""
        own = file.own_name(node)
        if own:
            found = definition(file, own)
            return Definition(file, found) if found is not None else None
        name = get_full_name_for_node(node) or ""
        return self._resolve_import(file, name, _FOLLOWED) if name else None

    def bases(self, found: Definition) -> list[Definition | str]:
        """Return the base classes of a class, in order."""
        if not isinstance(found.node, cst.ClassDef):
            return []
        named = [(each.value, self.resolve(found.file, each.value)) for each in found.node.bases if each.star == ""]
        return [known or found.file.qualified_name(node) or found.file.code(node) for node, known in named]

    def mro(self, found: Definition) -> list[Definition | str]:
        """Return a class and the classes that it derives from, in the order in which Python looks up attributes."""
        known: dict[cst.CSTNode, Definition] = {}

        def bases(each: cst.CSTNode | str) -> Sequence[cst.CSTNode | str]:
            given = self.bases(known[each]) if isinstance(each, cst.CSTNode) else []
            known.update({one.node: one for one in given if isinstance(one, Definition)})
            return [one.node if isinstance(one, Definition) else one for one in given]

        known[found.node] = found
        start: cst.CSTNode | str = found.node
        return [known[each] if isinstance(each, cst.CSTNode) else each for each in linearize(start, bases)]

    def method(self, found: Definition, name: str) -> Definition | None:
        """Return the method that an object of a class has by a name, its own or inherited; None if none is known."""
        for each in self.mro(found):
            if isinstance(each, Definition):
                node = definition(each.file, f"{each.name}.{name}")
                if isinstance(node, cst.FunctionDef):
                    return Definition(each.file, node)
        return None

    def properties(self, found: Definition) -> dict[str, Definition]:
        """Return the properties of a class by name, its own and those of its bases."""
        every: dict[str, Definition] = {}
        for each in self.mro(found):
            for node in each.node.body.body if isinstance(each, Definition) else ():
                if isinstance(each, Definition) and isinstance(node, cst.FunctionDef) and _is_property(node):
                    every.setdefault(node.name.value, Definition(each.file, node))
        return every

    def properties_returning(self, found: Definition, attribute: str) -> list[str]:
        """Return the names of the properties of a class that only return an attribute of the object.

        A descriptor of another kind (`@lazy`) may keep its result in `_scale` for `scale`.
        """
        text = f"return self.{attribute}"
        every = self.properties(found).items()
        names = [name for name, each in every if [each.file.code(line) for line in _lines(each.node)] == [text]]
        lazy = self.method(found, attribute.removeprefix("_")) if attribute.startswith("_") else None
        kinds = [last_name(each.decorator) for each in lazy.node.decorators] if lazy is not None else []
        return [*names, attribute[1:]] if kinds and _METHODS.isdisjoint(kinds) else names

    def class_of(self, file: File, node: cst.CSTNode) -> Definition | str | None:
        """Return the class of what an expression holds, if the file constructs it; a full name if it is installed."""
        return self._class_of(file, node, _FOLLOWED)

    def callers(self, found: Definition) -> Iterator[tuple[File, cst.Call]]:
        """Yield the calls of a function, or of a class, in all files.

        A method is found by `self`, `cls` and `super()`, by its class, and on objects that are constructed in the same
        file; a constructor by its class; a module's `forward` by a call of the module.
        """
        name, holder = found.node.name.value, found.holder
        is_implicit = holder is not None and name in (*CALLED, "__init__")  # then a call does not have its name
        texts = self._names(holder) if holder is not None and is_implicit else [name]
        for file in self.sources.containing(*texts, most=None):
            for node in file.within(file.module):
                if isinstance(node, cst.Call) and found.is_same(self._callee_of(file, node, name, holder)):
                    yield file, node

    def callee(self, file: File, call: cst.Call) -> Definition | None:
        """Return the function or method that a call runs, as far as the repository tells; None for a class."""
        func = call.func
        method = self._method_on(file, func.value, func.attr.value) if isinstance(func, cst.Attribute) else None
        found = method or self.resolve(file, func)
        return found if found is not None and isinstance(found.node, cst.FunctionDef) else None

    def classes(self, name: str) -> list[Definition]:
        """Return the classes with a name, in whichever file of the repository.

        >>> [each.file.path for each in ctx.repository.classes("Model")]
        ['main.py']
        """
        return [Definition(file, node) for file, node in self.sources.classes(name)]

    def subclasses(self, found: Definition) -> list[Definition]:
        """Return the classes of the repository that derive from a class, directly or not."""
        known = [found]
        for each in known:  # which grows
            for file in self.sources.containing(each.node.name.value, most=None):
                classes = [Definition(file, node) for node in file.classes]
                derived = [one for one in classes if any(map(each.is_same, self.bases(one)))]
                known += [one for one in derived if not any(map(one.is_same, known))]
        return known[1:]

    def _names(self, holder: Definition) -> list[str]:
        return sorted({each.node.name.value for each in (holder, *self.subclasses(holder))})

    def _callee_of(self, file: File, call: cst.Call, name: str, holder: Definition | None) -> Definition | None:
        """Return what a call runs, as far as it can be a function of that name and class."""
        func = call.func
        if holder is None:
            return self.resolve(file, func) if isinstance(func, cst.Name) or last_name(func) == name else None
        if isinstance(func, cst.Attribute) and func.attr.value == name:
            return self._method_on(file, func.value, name) or self.resolve(file, func)
        made = self.resolve(file, func) if name == "__init__" else None
        if made is None and name in CALLED:
            held = self.class_of(file, func)
            made = held if isinstance(held, Definition) else None
        return self.method(made, name) if made is not None and isinstance(made.node, cst.ClassDef) else None

    def _method_on(self, file: File, receiver: cst.BaseExpression, name: str) -> Definition | None:
        own = file.class_of(receiver)
        is_super = isinstance(receiver, cst.Call) and last_name(receiver.func) == "super"
        if own is not None and is_super:
            above = self.mro(Definition(file, own))[1:]
            owners = [each for each in above if isinstance(each, Definition)]
            nodes = [(each.file, definition(each.file, f"{each.name}.{name}")) for each in owners]
            return next((Definition(held, node) for held, node in nodes if isinstance(node, cst.FunctionDef)), None)
        held = self.class_of(file, receiver)
        return self.method(held, name) if isinstance(held, Definition) else None

    def _class_of(self, file: File, node: cst.CSTNode, left: int) -> Definition | str | None:
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value in ITSELF:
            return self._class_of(file, node.func.value, left)
        if isinstance(node, cst.Call):
            found = self.resolve(file, node.func)
            if found is not None:
                return found if isinstance(found.node, cst.ClassDef) else None
            name = file.qualified_name(node.func)
            return name if name.rpartition(".")[2][:1].isupper() else None
        text, holder = get_full_name_for_node(node) or "", file.class_of(node)
        if text in ("self", "cls") and holder is not None:
            return Definition(file, holder)
        if not text or not left:
            return None
        within = holder if text.startswith("self.") and holder is not None else file.function_of(node)
        given = assignments(file, text, within) or assignments(file, text)
        held = [self._class_of(file, each.value, left - 1) for each in given if each.value is not None]
        values = {each.node if isinstance(each, Definition) else each: each for each in held}
        return next(iter(values.values())) if len(values) == 1 else None

    def _resolve_import(self, file: File, name: str, left: int) -> Definition | None:
        found = imported_as(file, name)
        return self._locate(found, file, left) if found is not None else None

    def _locate(self, name: ImportedName, file: File | None, left: int) -> Definition | None:
        """Return what a full name means: the longest part of it that is a module's, and the rest in there."""
        for count in range(len(name.parts) - 1, 0, -1) if left else ():
            path = file_of_module(name, count, self.sources.paths(), file.path if file is not None else "")
            there = self.sources.file(SourceLocation(path, 1, owned=True)) if path else None
            if there is not None:
                rest = ".".join(name.parts[count:])
                found = definition(there, rest)
                return Definition(there, found) if found is not None else self._resolve_import(there, rest, left - 1)
        return None


def _is_property(node: cst.FunctionDef) -> bool:
    return any(last_name(each.decorator) in ("property", "cached_property") for each in node.decorators)


def _lines(node: cst.FunctionDef | cst.ClassDef) -> list[cst.CSTNode]:
    """Return the statements of a body, without its docstring; several in one line are one each."""
    lines: list[cst.CSTNode] = []
    for each in node.body.body:
        lines += each.body if isinstance(each, cst.SimpleStatementLine) else [each]
    return lines[node.get_docstring() is not None :]


Class = TypeVar("Class", bound=Hashable)


def linearize(
    start: Class, bases: Callable[[Class], Sequence[Class]], around: frozenset[Class] = frozenset()
) -> list[Class]:
    """Return a class and what it derives from; where Python would refuse the class, each once, depth first.

    >>> linearize("D", {"D": ["B", "C"], "B": ["A"], "C": ["A"], "A": []}.__getitem__)
    ['D', 'B', 'C', 'A']
    """
    own = [each for each in bases(start) if each not in around and each != start]
    above = [linearize(each, bases, around | {start}) for each in own]
    rows, found = [*above, own], [start]
    while rows := [row for row in rows if row]:
        heads = [row[0] for row in rows]
        free = (each for each in heads if not any(each in row[1:] for row in rows))
        head = next(free, heads[0])
        found.append(head)
        rows = [[each for each in row if each != head] for row in rows]
    return found
