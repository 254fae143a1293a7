"""A parsed file: its nodes, their positions and names."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TypeVar, cast, overload

import libcst as cst
from libcst.metadata import (
    Assignment,
    ByteSpanPositionProvider,
    CodeSpan,
    ComprehensionScope,
    FunctionScope,
    MetadataWrapper,
    QualifiedNameSource,
    Scope,
    ScopeProvider,
)

from devfix.errors import DevfixError
from devfix.model import SourceLocation

Node = TypeVar("Node", bound=cst.CSTNode)


class SourceError(DevfixError):
    """The file cannot be edited; the message is the reason."""


class ParsedModule:
    """A parsed file. Raises SourceError if it has a syntax error or does not print back as it was read."""

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self.data = data
        try:
            self.module = cst.parse_module(data)
        except (cst.ParserSyntaxError, SyntaxError, UnicodeDecodeError, LookupError, RecursionError) as error:
            raise SourceError(f"{path}: not editable, it does not parse: {str(error).splitlines()[0]}") from error
        if self.module.bytes != data:
            raise SourceError(f"{path}: not editable, LibCST does not print it back byte for byte")

    @cached_property
    def _wrapper(self) -> MetadataWrapper:
        return MetadataWrapper(self.module, unsafe_skip_copy=True)

    @cached_property
    def _spans(self) -> Mapping[cst.CSTNode, tuple[int, int]]:
        # `MetadataWrapper.resolve` would also visit the whole module for an empty batch of visitors (LibCST 1.9).
        spans = cast("Mapping[cst.CSTNode, CodeSpan]", ByteSpanPositionProvider()._gen(self._wrapper))
        return {node: (span.start, span.start + span.length) for node, span in spans.items()}

    @cached_property
    def text(self) -> str:
        """The text of the file."""
        # The data is what the module prints, so that it need not be printed again: 10 ms for a file of 300 lines.
        return self.data.decode(self.module.encoding)

    @cached_property
    def quote(self) -> str:
        """The quotation mark that the file uses more often."""
        return "'" if self.text.count("'") > self.text.count('"') else '"'

    @cached_property
    def classes(self) -> tuple[cst.ClassDef, ...]:
        """The classes that the file defines, at any depth, in order."""
        return tuple(_classes(self.module))

    @cached_property
    def _text(self) -> bytes:
        # Offsets are in UTF-8, whatever the encoding of the file, as the interpreter's columns are.
        return self.text.encode("utf-8")

    @cached_property
    def _line_starts(self) -> list[int]:
        # Python counts \n, \r\n and \r as line ends.
        return [0, *(match.end() for match in re.finditer(rb"\r\n|\n|\r", self._text))]

    @cached_property
    def _tree(self) -> _Tree:
        tree = _Tree()
        self.module.visit(tree)
        return tree

    @cached_property
    def _scopes(self) -> Mapping[cst.CSTNode, Scope | None]:
        return self._wrapper.resolve(ScopeProvider)

    def scope_of(self, node: cst.CSTNode) -> Scope | None:
        """Return the scope of a node: of a comprehension, a lambda, a function, a class or the module."""
        return next((self._scopes[each] for each in (node, *self.ancestors(node)) if self._scopes.get(each)), None)

    def bindings_of(self, node: cst.CSTNode, name: str) -> list[tuple[Scope, cst.CSTNode]]:
        """Return what binds a name as read by a node, by Python's scoping rules; empty if nothing does.

        >>> file = File("m.py", b"def f(xs):\\n    y = [x + 1 for x in xs]\\n    return y\\n")
        >>> inside, outside = file.find(file.module, "x + 1")[0], file.find(file.module, "y")[-1]
        >>> len(file.bindings_of(inside, "x")), len(file.bindings_of(outside, "x"))
        (1, 0)
        """
        scope = self.scope_of(node)
        found = scope[name] if scope is not None else ()
        return [(each.scope, each.node) for each in found if isinstance(each, Assignment)]

    def is_bound_within(self, node: cst.CSTNode, name: str) -> bool:
        """Return whether a comprehension or lambda around a node binds a name, so that no statement can read it."""
        if not any(isinstance(each, cst.BaseComp | cst.Lambda) for each in (node, *self.ancestors(node))):
            return False  # without the scopes of the file, which are slow to analyze
        return any(
            isinstance(scope, ComprehensionScope)
            or (isinstance(scope, FunctionScope) and isinstance(self._lambdas.get(scope), cst.Lambda))
            for scope, _ in self.bindings_of(node, name)
        )

    def binds_anywhere(self, name: str) -> bool:
        """Return whether any scope of the file binds a name."""
        scopes = {scope for scope in self._scopes.values() if scope is not None}
        return any(each.name == name for scope in scopes for each in scope.assignments if isinstance(each, Assignment))

    @cached_property
    def _lambdas(self) -> Mapping[Scope, cst.CSTNode]:
        """The lambda of each scope that belongs to one."""
        found = {}
        for node in self._scopes:
            if isinstance(node, cst.Lambda):
                scope = self._scopes.get(node.body)
                if scope is not None:
                    found[scope] = node
        return found

    def _offset(self, line: int, column: int) -> int:
        starts = self._line_starts
        return starts[min(line, len(starts)) - 1] + column

    def line_of(self, node: cst.CSTNode) -> int:
        """Return the line on which a node starts."""
        return bisect_right(self._line_starts, self._spans[node][0])

    def code(self, node: cst.CSTNode) -> str:
        """Return the text of a node, without the whitespace around it."""
        written = self._source_text(node)
        # Lines after the first have the indentation of the file, with which the text would not parse.
        return self.module.code_for_node(node).strip() if written is None or "\n" in written else written

    def _source_text(self, node: cst.CSTNode) -> str | None:
        """Return an expression as it is written in the file; None for other nodes."""
        span = self._spans.get(node)
        if span is None or not isinstance(node, cst.BaseExpression):
            return None
        start, stop = span
        if node.lpar:  # the span does not include the parentheses
            start, stop = self._spans[node.lpar[0]][0], self._spans[node.rpar[-1]][1]
        return self._text[start:stop].decode("utf-8").strip()

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """Return the parent of a node; None for the module."""
        return self._tree.parents.get(node)

    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """Yield the nodes around a node, innermost first."""
        current = self._tree.parents.get(node)
        while current is not None:
            yield current
            current = self._tree.parents.get(current)

    def last_line_of(self, node: cst.CSTNode) -> int:
        """Return the line on which a node ends."""
        return bisect_right(self._line_starts, max(self._spans[node][0], self._spans[node][1] - 1))

    def place_of(self, node: cst.CSTNode, function: str = "") -> SourceLocation:
        """Return the location of a node as the interpreter reports it for a running function, always with columns."""
        start, stop = self._spans[node]
        line, last = self.line_of(node), self.last_line_of(node)
        column, end = start - self._line_starts[line - 1], stop - self._line_starts[last - 1]
        return SourceLocation(self.path, line, function, last, column, end, owned=True)

    @overload
    def within(self, root: cst.CSTNode) -> Iterator[cst.CSTNode]: ...

    @overload
    def within(self, root: cst.CSTNode, kind: type[Node]) -> Iterator[Node]: ...

    def within(self, root: cst.CSTNode, kind: type[cst.CSTNode] = cst.CSTNode) -> Iterator[cst.CSTNode]:
        """Yield a node and everything below it, outer nodes first; with `kind`, only the nodes of that class.

        >>> file = File("m.py", b"f(g(x))\\n")
        >>> [file.code(call) for call in file.within(file.module, cst.Call)]
        ['f(g(x))', 'g(x)']
        """
        return (
            self._below(root) if kind is cst.CSTNode else (node for node in self._below(root) if isinstance(node, kind))
        )

    def _below(self, root: cst.CSTNode) -> Iterator[cst.CSTNode]:
        extent = self._tree.extents.get(root)
        if extent is not None:
            yield from self._tree.nodes[extent]
        else:
            yield root
            for child in root.children:
                yield from self._below(child)

    def qualified_name(self, node: cst.CSTNode) -> str:
        """Return the full name of a name or call by the file's imports: "torch.nn.Linear" for `nn.Linear(…)`, or "len".

        Returns "" if the file itself defines the name.

        >>> file = File("m.py", b"from torch import nn as n\\nn.Linear(2, 2)\\n")
        >>> file.qualified_name(file.find(file.module, "n.Linear(2, 2)")[0])
        'torch.nn.Linear'
        """
        scope = self.scope_of(node)
        found = scope.get_qualified_names_for(node) if scope is not None else set()
        known = sorted(each.name for each in found if each.source is not QualifiedNameSource.LOCAL)
        return known[0].removeprefix("builtins.") if known else ""

    def own_name(self, node: cst.CSTNode) -> str:
        """Return the name, in this file, of a function or class that the file itself defines; "" for other names.

        >>> file = File("m.py", b"class Net:\\n    def make(): ...\\nNet.make()\\nprint()\\n")
        >>> [file.own_name(file.find(file.module, text)[0]) for text in ("Net.make()", "print()")]
        ['Net.make', '']
        """
        scope = self.scope_of(node)
        found = scope.get_qualified_names_for(node) if scope is not None else set()
        names = (each.name.rpartition("<locals>.")[2] for each in found if each.source is QualifiedNameSource.LOCAL)
        own = sorted(name for name in names if self._defines(node, name.partition(".")[0]))
        return own[0] if own else ""

    def _defines(self, node: cst.CSTNode, name: str) -> bool:
        """Return whether a name, as a node reads it, is a function or a class of this file."""
        return any(isinstance(each, cst.FunctionDef | cst.ClassDef) for _, each in self.bindings_of(node, name))


def _classes(node: cst.CSTNode) -> Iterator[cst.ClassDef]:
    for statement in statements_of(node):
        if isinstance(statement, cst.ClassDef):
            yield statement
        yield from _classes(statement)


def statements_of(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield the blocks and statements directly below a node, without a look at their expressions.

    >>> module = cst.parse_module("if ready:\\n    run()\\nelse:\\n    wait()\\n")
    >>> [type(each).__name__ for each in statements_of(module.body[0])]
    ['IndentedBlock', 'Else']
    """
    if isinstance(node, cst.SimpleStatementLine | cst.SimpleStatementSuite):
        return
    for name in ("body", "handlers", "cases", "orelse", "finalbody"):
        part = getattr(node, name, None)
        yield from (part,) if isinstance(part, cst.CSTNode) else part or ()


class _Tree(cst.CSTVisitor):
    """Collects the nodes of a module, outer ones first, with the parent of each and the nodes below each.

    It does so in one pass. ParentNodeProvider would need another, and a copy for each parent.
    """

    def __init__(self) -> None:
        super().__init__()
        self.nodes: list[cst.CSTNode] = []
        self.extents: dict[cst.CSTNode, slice] = {}
        self.parents: dict[cst.CSTNode, cst.CSTNode] = {}
        self._around: list[tuple[cst.CSTNode, int]] = []

    def on_visit(self, node: cst.CSTNode) -> bool:
        if self._around:
            self.parents[node] = self._around[-1][0]
        self._around.append((node, len(self.nodes)))
        self.nodes.append(node)
        return True

    def on_leave(self, original_node: cst.CSTNode) -> None:
        self.extents[original_node] = slice(self._around.pop()[1], len(self.nodes))
