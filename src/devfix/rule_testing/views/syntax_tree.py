"""The syntax tree of a LibCST node as indented lines, for authors who look for a node's fields."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields

import libcst as cst

_LAYOUT = (
    cst.BaseParenthesizableWhitespace,
    cst.TrailingWhitespace,
    cst.EmptyLine,
    cst.Newline,
    cst.Comma,
    cst.Dot,
    cst.AssignEqual,
    cst.Semicolon,
    cst.LeftParen,
    cst.RightParen,
    cst.LeftSquareBracket,
    cst.RightSquareBracket,
    cst.LeftCurlyBrace,
    cst.RightCurlyBrace,
)


def syntax_tree(node: cst.CSTNode) -> Iterator[str]:
    """Yield a line for a node and each node below it, without whitespace, commas and brackets.

    >>> for line in syntax_tree(cst.parse_expression("x.to(0)")):
    ...     print(line)
    Call
      func: Attribute
        value: Name 'x'
        attr: Name 'to'
      args[0]: Arg
        value: Integer '0'
    """
    text = getattr(node, "value", None)
    yield type(node).__name__ + (f" {text!r}" if isinstance(text, str) else "")
    for field in fields(node):
        value = getattr(node, field.name)
        found = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
        for number, child in enumerate(found):
            if isinstance(child, cst.CSTNode) and not isinstance(child, _LAYOUT):
                name = field.name if child is value else f"{field.name}[{number}]"
                first, *rest = syntax_tree(child)
                yield f"  {name}: {first}"
                yield from (f"  {line}" for line in rest)
