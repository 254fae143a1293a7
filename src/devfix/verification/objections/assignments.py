"""Pair the targets of an assignment with the values that they get."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def assigned_pairs(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield each target of an assignment with its own value, those of two tuples of the same length one by one.

    >>> [tuple(map(ast.unparse, pair)) for pair in assigned_pairs(ast.parse("x, y = f(a), b").body[0])]
    [('x', 'f(a)'), ('y', 'b')]
    """
    if not isinstance(node, ast.Assign):
        return
    for target in node.targets:
        several = target.elts if isinstance(target, ast.Tuple) else None
        values = node.value.elts if several is not None and isinstance(node.value, ast.Tuple) else None
        if several is None or values is None:
            yield target, node.value
        elif len(several) == len(values):
            yield from zip(several, values, strict=True)
