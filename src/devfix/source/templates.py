"""Code with metavariables: match expressions against a template, and write new ones by it.

`$NAME` stands for one expression, `$$$NAME` for any number of arguments or elements; `$_` and `$$$` for those that do
not matter. A name that occurs twice stands for the same code. Spaces, comments and parentheses do not count in a match.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import libcst as cst

from devfix.source.text import normalize

Bound = cst.BaseExpression | tuple[cst.CSTNode, ...]
Bindings = Mapping[str, Bound]

VARIABLE = re.compile(r"\$\$\$([A-Z_][A-Z0-9_]*)?|\$([A-Z_][A-Z0-9_]*)")
_ONE, _MANY = "devfix_one_", "devfix_many_"  # what metavariables are called while Python parses the template
_LAYOUT = (
    cst.BaseParenthesizableWhitespace,
    cst.Comma,
    cst.LeftParen,
    cst.RightParen,
    cst.AssignEqual,
    cst.Dot,
)
_ATOMS = (cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.BaseString, cst.BaseNumber, cst.List, cst.Dict)
_BINDING = (
    *(cst.Attribute, cst.Subscript, cst.Call, cst.Await, cst.UnaryOperation, cst.BinaryOperation, cst.Comparison),
    *(cst.ComparisonTarget, cst.BooleanOperation, cst.IfExp, cst.StarredElement),
)
_NOWHERE = cst.Module([])


class TemplateError(ValueError):
    """A template that is no expression, or whose metavariables are not written in capital letters."""


def variables(text: str) -> set[str]:
    """Return the metavariables of a text that have a name."""
    return {name for each in VARIABLE.finditer(text) if (name := each[1] or each[2]) and name != "_"}


def fill_text(text: str, bound: Mapping[str, str]) -> str:
    """Return a text with the code of its metavariables in place, such as a title or a statement."""
    return VARIABLE.sub(lambda each: bound.get(each[1] or each[2] or "", each[0]), text)


@dataclass(frozen=True)
class Template:
    """An expression with metavariables.

    >>> wanted = Template("$X.to($D, $$$MORE)")
    >>> found = wanted.match(cst.parse_expression("(a + b).to('cuda', torch.half)"))
    >>> cst.Module([]).code_for_node(Template("$X.cpu($$$MORE)").fill(found))
    '(a + b).cpu(torch.half)'
    >>> wanted.match(cst.parse_expression("x.cpu()")) is None
    True
    """

    text: str

    @cached_property
    def expression(self) -> cst.BaseExpression:
        """The expression, whose metavariables are names. Raises TemplateError if it is none."""
        code = VARIABLE.sub(lambda each: f"{_ONE}{each[2]}" if each[2] else f"*{_MANY}{each[1] or '_'}", self.text)
        if "$" in re.sub(r"'[^']*'|\"[^\"]*\"", "", code):
            raise TemplateError(f"metavariables are written in capital letters, `$NAME` or `$$$NAME`: {self.text}")
        try:
            return cst.parse_expression(code)
        except cst.ParserSyntaxError as error:
            raise TemplateError(f"is not an expression of Python: {self.text}") from error

    def match(self, node: cst.CSTNode, bound: Bindings | None = None) -> dict[str, Bound] | None:
        """Return what the metavariables stand for in a node, with those that are bound already; None if it differs."""
        return next(_matches(self.expression, node, dict(bound or {})), None)

    def fill(self, bound: Bindings) -> cst.BaseExpression:
        """Return the expression with the metavariables replaced, in parentheses where they are needed."""
        result = self.expression.visit(_Filling(bound))
        assert isinstance(result, cst.BaseExpression)
        return result


def _matches(pattern: object, node: object, bound: dict[str, Bound]) -> Iterator[dict[str, Bound]]:
    """Yield each way in which a part of a template stands for a part of the code."""
    name = _name(pattern, _ONE)
    if name and isinstance(node, cst.BaseExpression):
        if name == "_":
            yield bound
        elif name not in bound or _same(bound[name], node):
            yield {**bound, name: bound.get(name, node)}
    elif isinstance(pattern, Sequence) and not isinstance(pattern, str) and isinstance(node, Sequence):
        yield from _sequences(list(pattern), list(node), bound)
    elif isinstance(pattern, cst.CSTNode):
        if type(pattern) is type(node):
            yield from _fields(pattern, node, [each.name for each in fields(pattern)], bound)
    elif pattern == node or isinstance(pattern, cst.MaybeSentinel):
        yield bound


def _fields(pattern: object, node: object, names: Sequence[str], bound: dict[str, Bound]) -> Iterator[dict[str, Bound]]:
    for number, name in enumerate(names):
        part = getattr(pattern, name)
        if name in ("lpar", "rpar") or isinstance(part, _LAYOUT):
            continue
        if isinstance(part, str) and isinstance(pattern, cst.SimpleString):
            part, other = normalize(part), normalize(getattr(node, name))
        else:
            other = getattr(node, name)
        for found in _matches(part, other, bound):
            yield from _fields(pattern, node, names[number + 1 :], found)
        return
    yield bound


def _sequences(patterns: list[object], nodes: list[object], bound: dict[str, Bound]) -> Iterator[dict[str, Bound]]:
    if not patterns:
        if not nodes:
            yield bound
        return
    name = _name(patterns[0], _MANY)
    for count in range(len(nodes) + 1) if name else ():
        taken = tuple(each for each in nodes[:count] if isinstance(each, cst.CSTNode))
        if name == "_" or name not in bound or _same(bound[name], taken):
            ours = bound if name == "_" else {**bound, name: bound.get(name, taken)}
            yield from _sequences(patterns[1:], nodes[count:], ours)
    if not name and nodes:
        for found in _matches(patterns[0], nodes[0], bound):
            yield from _sequences(patterns[1:], nodes[1:], found)


def _name(node: object, prefix: str) -> str:
    """Return the name of a metavariable; "" if a node is none of that kind."""
    if prefix == _MANY:
        starred = isinstance(node, cst.StarredElement) or (isinstance(node, cst.Arg) and node.star == "*")
        node = getattr(node, "value", None) if starred else None
    is_variable = isinstance(node, cst.Name) and node.value.startswith(prefix)
    return node.value.removeprefix(prefix) if is_variable and isinstance(node, cst.Name) else ""


def _same(one: Bound, other: Bound) -> bool:
    return bool(_codes(one) == _codes(other))


def _codes(bound: Bound) -> list[str]:
    nodes = bound if isinstance(bound, tuple) else (bound,)
    return [normalize(_NOWHERE.code_for_node(each)).rstrip(",") for each in nodes]


class _Filling(cst.CSTTransformer):
    """Puts nodes in the places of metavariables."""

    def __init__(self, bound: Bindings) -> None:
        super().__init__()
        self._bound = bound
        self._around: list[cst.CSTNode] = []

    def on_visit(self, node: cst.CSTNode) -> bool:
        self._around.append(node)
        return True

    def on_leave(self, original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode | cst.FlattenSentinel[cst.CSTNode]:  # type: ignore[override]
        self._around.pop()
        if many := _name(original, _MANY):
            found = self._bound[many]
            return cst.FlattenSentinel(found if isinstance(found, tuple) else (updated.with_changes(value=found),))
        if isinstance(updated, cst.Call) and updated.args:
            *rest, last = updated.args
            return updated.with_changes(args=[*rest, _ending(last)])
        name = _name(original, _ONE)
        value = self._bound.get(name)
        if not isinstance(value, cst.BaseExpression):
            return updated
        return _add_parentheses(value) if self._around and _is_loose(value, self._around[-1]) else value


def _is_loose(value: cst.BaseExpression, parent: cst.CSTNode) -> bool:
    """Return whether an expression needs parentheses below a node."""
    is_whole = isinstance(value, _ATOMS) or bool(value.lpar)
    return not is_whole and isinstance(parent, _BINDING)


def _ending(last: cst.Arg) -> cst.Arg:
    """Return an argument as the last one: without a comma, unless each argument has a line of its own."""
    comma = last.comma
    is_line = isinstance(comma, cst.Comma) and isinstance(comma.whitespace_after, cst.ParenthesizedWhitespace)
    return last if is_line else last.with_changes(comma=cst.MaybeSentinel.DEFAULT)


def _add_parentheses(node: cst.BaseExpression) -> cst.BaseExpression:
    return node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
