"""A Python file: find nodes by location or text, and edit it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import libcst as cst

from devfix.model import Edit, SourceLocation
from devfix.notebooks.notebook import is_notebook, settle_cells
from devfix.source.parsed_module import Node, ParsedModule
from devfix.source.replacement import Replacement
from devfix.source.text import check_syntax, first_difference, last_name, normalize
from devfix.source.wrapping import wrap_long_lines

Statement = cst.SimpleStatementLine | cst.BaseCompoundStatement
LOOPS = (cst.For, cst.While)
# A comprehension evaluates in its own loop; statements cannot be moved out of one.
SCOPES = (cst.FunctionDef, cst.ClassDef, cst.Lambda)


class File(ParsedModule):
    """A parsed file. Raises SourceError if it has a syntax error or does not print back as it was read."""

    def expressions_at(self, place: SourceLocation) -> list[cst.BaseExpression]:
        """Return the expressions at a location: exact ones if columns are known, else all that start on the line.

        Python reports a method call that spans lines from its attribute on, so equal ends match as well.
        """
        if place.column is None or place.end_line is None or place.end_column is None:
            return self._on_line(place.line)
        start = self._offset(place.line, place.column)
        end = self._offset(place.end_line, place.end_column)
        found = [(begin != start, begin, node) for begin, node in self._ending.get(end, ()) if begin <= start]
        exact = [entry for entry in found if not entry[0]]
        chosen = exact or sorted(found, key=lambda entry: -entry[1])
        return [node for _, _, node in chosen]

    @cached_property
    def _ending(self) -> Mapping[int, list[tuple[int, cst.BaseExpression]]]:
        """The expressions that end at an offset, each with its start."""
        found: dict[int, list[tuple[int, cst.BaseExpression]]] = {}
        for node, (start, stop) in self._spans.items():
            if isinstance(node, cst.BaseExpression):
                found.setdefault(stop, []).append((start, node))
        return found

    def _on_line(self, line: int) -> list[cst.BaseExpression]:
        return [node for node in self._spans if isinstance(node, cst.BaseExpression) and self.line_of(node) == line]

    def call_at(self, place: SourceLocation, names: Sequence[str] = ()) -> cst.Call | None:
        """Return the call at a location; with `names`, only one whose last name is among them.

        Returns None if there is none, or if only the line is known and it has several.
        """
        calls = [node for node in self.expressions_at(place) if isinstance(node, cst.Call)]
        if names:
            calls = [call for call in calls if last_name(call.func) in names]
        if place.column is None and len(calls) != 1:
            return None
        return calls[0] if calls else None

    def root_at(self, place: SourceLocation) -> cst.CSTNode | None:
        """Return what is evaluated at a location: the expression, or the statement if it is not one (`x += y`)."""
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

    def statement_of(self, node: cst.CSTNode) -> Statement | None:
        """Return the statement line or compound statement around a node; None in a suite on one line (`if x: y`)."""
        for candidate in (node, *self.ancestors(node)):
            if isinstance(candidate, cst.SimpleStatementSuite):
                return None
            if isinstance(candidate, cst.SimpleStatementLine | cst.BaseCompoundStatement):
                return candidate
        return None

    def function_of(self, node: cst.CSTNode) -> cst.FunctionDef | None:
        """Return the function around a node; None at module or class level and in a lambda."""
        scope = next((each for each in self.ancestors(node) if isinstance(each, SCOPES)), None)
        return scope if isinstance(scope, cst.FunctionDef) else None

    def class_of(self, node: cst.CSTNode) -> cst.ClassDef | None:
        """Return the innermost class around a node."""
        return next((each for each in self.ancestors(node) if isinstance(each, cst.ClassDef)), None)

    def own_nodes(self, scope: cst.CSTNode, kind: type[Node]) -> Iterator[Node]:
        """Yield the nodes of a class that belong to a function itself, or to no function for anything else.

        >>> file = File("m.py", b"def f(x):\\n    def g(y): return y\\n    return g(x)\\n")
        >>> [file.code(each) for each in file.own_nodes(file.module.body[0], cst.Return)]
        ['return g(x)']
        """
        function = scope if isinstance(scope, cst.FunctionDef) else None
        return (node for node in self.within(scope, kind) if self.function_of(node) is function)

    def loops_around(self, node: cst.CSTNode) -> list[cst.BaseCompoundStatement]:
        """Return the for and while statements around a node within its function, innermost first."""
        loops: list[cst.BaseCompoundStatement] = []
        for ancestor in self.ancestors(node):
            if isinstance(ancestor, SCOPES):
                break
            if isinstance(ancestor, LOOPS):
                loops.append(ancestor)
        return loops

    def find(self, root: cst.CSTNode, code: str) -> list[cst.BaseExpression]:
        """Return the expressions below `root` whose text is `code`, in source order."""
        found = self._reading.get(normalize(code), ())
        inside = self._tree.extents.get(root, slice(0, 0))
        return [node for number, node in found if inside.start <= number < inside.stop]

    @cached_property
    def _reading(self) -> Mapping[str, list[tuple[int, cst.BaseExpression]]]:
        """The expressions by their text, with the position of each in source order."""
        found: dict[str, list[tuple[int, cst.BaseExpression]]] = {}
        for number, node in enumerate(self._tree.nodes):
            if isinstance(node, cst.BaseExpression) and (text := self._source_text(node)) is not None:
                found.setdefault(normalize(text), []).append((number, node))
        return found

    def replace(self, changes: Mapping[cst.CSTNode, cst.CSTNode]) -> cst.Module:
        """Return the module with nodes replaced.

        A node inside another one that is replaced too is replaced in the other's replacement. Raises ValueError if it
        is no longer there, and for a node that this file does not have.

        >>> file = File("m.py", b"f(g(x))\\n")
        >>> call, name = (file.find(file.module, text)[0] for text in ("f(g(x))", "x"))
        >>> file.replace({call: call.with_changes(func=cst.Name("h")), name: cst.Name("y")}).code
        'h(g(y))\\n'
        """
        for node in changes:
            if node not in self._tree.extents:
                raise ValueError(
                    f"{self.path} has no node `{_short(self.module, node)}`: replace nodes that this File returned, "
                    "not nodes of another file or of an edited copy"
                )
        replacing = Replacement(changes, self._tree.extents)
        result = self.module.visit(replacing)
        assert isinstance(result, cst.Module)
        for node in changes:
            if node not in replacing.done:
                around = next(each for each in self.ancestors(node) if each in replacing.done)
                raise ValueError(
                    f"{self.path}: `{_short(self.module, node)}` is not replaced, since the replacement of the node "
                    f"around it, `{_short(self.module, around)}`, does not contain it: make one replacement of both"
                )
        return result

    def edit(self, module: cst.Module) -> Edit | None:
        """Return the edit from this file to `module`; None if nothing changes or the result does not parse."""
        after = module.bytes
        if after == self.data:
            return None
        try:
            if is_notebook(self.path):
                after = settle_cells(self.data, after)
            check_syntax(self.path, after)
            after = wrap_long_lines(self.data, after)
        except (SyntaxError, ValueError):
            return None
        return Edit(self.path, first_difference(self.data, after), self.data, after)


def _short(module: cst.Module, node: cst.CSTNode) -> str:
    return " ".join(module.code_for_node(node).split())[:60]
