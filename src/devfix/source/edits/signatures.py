"""Add a parameter to the signature of a function, in the style of those that it has."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from devfix.source.edits.expressions import SPACED, expression, with_comment_of


def with_parameter(given: cst.FunctionDef, name: str, default: str) -> cst.Parameters:
    """Return the signature of a function with one more parameter, by keyword only where no other is possible.

    >>> function = cst.parse_statement("def f(\\n    x,\\n    n: int,\\n): pass")
    >>> print(cst.Module([]).code_for_node(with_parameter(function, "device", "None")), end="")
    x,
        n: int,
        device=None,
    """
    old, tight = given.params, cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    new = cst.Param(
        cst.Name(name),
        default=expression(default) if default else None,
        equal=tight if default else cst.MaybeSentinel.DEFAULT,
    )
    is_after_defaults = not default and any(each.default is not None for each in (*old.posonly_params, *old.params))
    if old.kwonly_params:
        return old.with_changes(kwonly_params=_append(given, old.kwonly_params, new))
    if isinstance(old.star_arg, cst.Param):
        star, added = _append(given, [old.star_arg], new)
        return old.with_changes(star_arg=star, kwonly_params=[added])
    if is_after_defaults:
        return old.with_changes(kwonly_params=[new])
    return old.with_changes(params=_append(given, old.params, new) if old.params else [new])


def _append(function: cst.FunctionDef, params: Sequence[cst.Param], new: cst.Param) -> list[cst.Param]:
    """Return parameters with one more: on a line of its own where the last one ends with a comma, or has one."""
    *before, last = params
    first = function.whitespace_before_params
    between = next((each.comma for each in before if isinstance(each.comma, cst.Comma)), None)
    if between is None:
        between = cst.Comma(whitespace_after=first) if isinstance(first, cst.ParenthesizedWhitespace) else SPACED
    if isinstance(last.comma, cst.Comma):  # comments stay with their parameters
        between = with_comment_of(last.comma, between)
        new = new.with_changes(comma=with_comment_of(None, last.comma))
    moved = new.with_changes(whitespace_after_param=last.whitespace_after_param)
    return [*before, last.with_changes(comma=between, whitespace_after_param=cst.SimpleWhitespace("")), moved]
