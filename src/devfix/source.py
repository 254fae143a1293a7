"""One Python file: ask it what stands at a place, and change it.

The only module that parses. LibCST keeps every byte, so a file that does not print back as it was read is not editable.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TypeVar

import libcst as cst
from libcst.metadata import ByteSpanPositionProvider, MetadataWrapper, ParentNodeProvider

from devfix.errors import DevfixError
from devfix.model import Edit, Place

Node = TypeVar("Node", bound=cst.CSTNode)
Statement = cst.SimpleStatementLine | cst.BaseCompoundStatement
LOOPS = (cst.For, cst.While)
# A comprehension evaluates in a loop of its own; moving something out of one is not a matter of statements.
SCOPES = (cst.FunctionDef, cst.ClassDef, cst.Lambda)


class SourceError(DevfixError):
    """The file cannot be edited: the message says why."""


class File:
    """A parsed file. Raises SourceError where it has a syntax error or does not print back as it was read."""

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
        spans = self._wrapper.resolve(ByteSpanPositionProvider)
        return {node: (span.start, span.start + span.length) for node, span in spans.items()}

    @cached_property
    def _parents(self) -> Mapping[cst.CSTNode, cst.CSTNode]:
        return self._wrapper.resolve(ParentNodeProvider)

    @cached_property
    def _line_starts(self) -> list[int]:
        # Python counts \n, \r\n and \r as line ends; offsets are in UTF-8, as the interpreter's columns are.
        text = self.module.code.encode("utf-8")
        return [0, *(match.end() for match in re.finditer(rb"\r\n|\n|\r", text))]

    def _offset(self, line: int, column: int) -> int:
        starts = self._line_starts
        return starts[min(line, len(starts)) - 1] + column

    def line_of(self, node: cst.CSTNode) -> int:
        """The line on which a node starts."""
        return bisect_right(self._line_starts, self._spans[node][0])

    def code(self, node: cst.CSTNode) -> str:
        """The text of a node, without the space around it."""
        return self.module.code_for_node(node).strip()

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """The node that holds this one; None for the module."""
        return self._parents.get(node)

    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The nodes around this one, innermost first."""
        current = self._parents.get(node)
        while current is not None:
            yield current
            current = self._parents.get(current)

    def expressions_at(self, place: Place) -> list[cst.BaseExpression]:
        """The expressions at a place: exact ones where columns are known, else all that start on the line.

        A method call that spans lines is reported by Python from its attribute on, so equal ends count as well.
        """
        if place.column is None or place.end_line is None or place.end_column is None:
            return self._on_line(place.line)
        start = self._offset(place.line, place.column)
        end = self._offset(place.end_line, place.end_column)
        found = [
            (begin != start, begin, node)
            for node, (begin, stop) in self._spans.items()
            if stop == end and begin <= start and isinstance(node, cst.BaseExpression)
        ]
        exact = [entry for entry in found if not entry[0]]
        chosen = exact or sorted(found, key=lambda entry: -entry[1])
        return [node for _, _, node in chosen]

    def _on_line(self, line: int) -> list[cst.BaseExpression]:
        return [node for node in self._spans if isinstance(node, cst.BaseExpression) and self.line_of(node) == line]

    def call_at(self, place: Place, names: Sequence[str] = ()) -> cst.Call | None:
        """The call at a place; with `names`, only one whose last name is among them.

        None where there is none, or where only the line is known and it has several.
        """
        calls = [node for node in self.expressions_at(place) if isinstance(node, cst.Call)]
        if names:
            calls = [call for call in calls if last_name(call.func) in names]
        if place.column is None and len(calls) != 1:
            return None
        return calls[0] if calls else None

    def root_at(self, place: Place) -> cst.CSTNode | None:
        """What was being evaluated at a place: the expression, or the statement (`x += y` is none)."""
        expressions = self.expressions_at(place)
        if expressions and place.column is not None:
            return expressions[0]
        lines = [
            node
            for node in self._spans
            if isinstance(node, cst.SimpleStatementLine | cst.BaseCompoundStatement)
            and self.line_of(node) <= place.line <= self.last_line_of(node)
        ]
        return max(lines, key=lambda node: self._spans[node][0]) if lines else None

    def last_line_of(self, node: cst.CSTNode) -> int:
        """The line on which a node ends."""
        return bisect_right(self._line_starts, max(self._spans[node][0], self._spans[node][1] - 1))

    def statement_of(self, node: cst.CSTNode) -> Statement | None:
        """The statement line or compound statement around a node; None in a suite on one line (`if x: y`)."""
        for candidate in (node, *self.ancestors(node)):
            if isinstance(candidate, cst.SimpleStatementSuite):
                return None
            if isinstance(candidate, cst.SimpleStatementLine | cst.BaseCompoundStatement):
                return candidate
        return None

    def function_of(self, node: cst.CSTNode) -> cst.FunctionDef | None:
        """The function around a node; None at module or class level and in a lambda."""
        scope = next((each for each in self.ancestors(node) if isinstance(each, SCOPES)), None)
        return scope if isinstance(scope, cst.FunctionDef) else None

    def class_of(self, node: cst.CSTNode) -> cst.ClassDef | None:
        """The innermost class around a node."""
        return next((each for each in self.ancestors(node) if isinstance(each, cst.ClassDef)), None)

    def loops_around(self, node: cst.CSTNode) -> list[cst.BaseCompoundStatement]:
        """The for and while statements around a node within its function, innermost first."""
        loops: list[cst.BaseCompoundStatement] = []
        for ancestor in self.ancestors(node):
            if isinstance(ancestor, SCOPES):
                break
            if isinstance(ancestor, LOOPS):
                loops.append(ancestor)
        return loops

    def within(self, root: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """A node and everything below it, outer nodes first."""
        yield root
        for child in root.children:
            yield from self.within(child)

    def find(self, root: cst.CSTNode, code: str) -> list[cst.BaseExpression]:
        """The expressions below `root` whose text is `code`, in the order of the source."""
        wanted = normalised(code)
        return [
            node
            for node in self.within(root)
            if isinstance(node, cst.BaseExpression) and node in self._spans and normalised(self.code(node)) == wanted
        ]

    def replaced(self, changes: Mapping[cst.CSTNode, cst.CSTNode]) -> cst.Module:
        """The module with nodes replaced."""
        result = self.module.visit(_Replace(changes))
        assert isinstance(result, cst.Module)
        return result

    def edit(self, module: cst.Module) -> Edit | None:
        """The edit from this file to `module`; None where nothing changes or the result does not parse."""
        after = module.bytes
        if after == self.data:
            return None
        try:
            compile(after, self.path, "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            return None
        return Edit(self.path, first_difference(self.data, after), self.data, after)


class _Replace(cst.CSTTransformer):
    def __init__(self, changes: Mapping[cst.CSTNode, cst.CSTNode]) -> None:
        super().__init__()
        self.changes = changes

    def on_visit(self, node: cst.CSTNode) -> bool:
        return True

    def on_leave(  # type: ignore[override]
        self, original_node: cst.CSTNode, updated_node: cst.CSTNode
    ) -> cst.CSTNode | cst.FlattenSentinel[cst.CSTNode]:
        return self.changes.get(original_node, updated_node)


def normalised(code: str) -> str:
    """Code without the spaces that do not matter for comparing two expressions."""
    return re.sub(r"\s+", "", code).replace('"', "'")


def last_name(node: cst.CSTNode) -> str:
    """The last part of a dotted name: "zeros" of `torch.zeros`; "" where it is no name."""
    if isinstance(node, cst.Attribute):
        return node.attr.value
    return node.value if isinstance(node, cst.Name) else ""


def first_difference(before: bytes, after: bytes) -> int:
    """The first line, from 1, in which two texts differ."""
    old, new = before.splitlines(), after.splitlines()
    same = next((index for index, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    return same + 1


class Sources:
    """The files of one state of the repository, parsed when asked for.

    `read` gives a file's bytes, or None where it must not be edited (not tracked, ignored, excluded).
    """

    def __init__(self, read: Callable[[str], bytes | None]) -> None:
        self._read = read
        self._files: dict[str, File | None] = {}
        self.notes: list[str] = []

    def file(self, place: Place) -> File | None:
        """The file of an owned place; None where it is foreign, excluded or not editable."""
        if not place.owned:
            return None
        if place.path not in self._files:
            self._files[place.path] = self._parse(place.path)
        return self._files[place.path]

    def _parse(self, path: str) -> File | None:
        data = self._read(path)
        if data is None:
            return None
        try:
            return File(path, data)
        except SourceError as error:
            self.notes.append(str(error))
            return None
