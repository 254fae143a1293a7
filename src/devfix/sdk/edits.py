"""Small codemods: a keyword, a move, a statement. Each gives a new module, or None where it does not apply."""

from __future__ import annotations

import re
from collections.abc import Sequence

import libcst as cst

from devfix.source import File, last_name

DTYPE = re.compile(r"(^|[._])(dtype|float\d*|bfloat16|half|double|int\d*|uint8|long|short|bool|complex\d*)$")
ATOMS = (cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.Tuple, cst.List)


def expression(text: str) -> cst.BaseExpression:
    """The expression that a text stands for. Raises ParserSyntaxError where it is none."""
    return cst.parse_expression(text)


def argument(call: cst.Call, keyword: str) -> cst.Arg | None:
    """The argument given by a keyword; None where it is not given so."""
    return next((each for each in call.args if each.keyword is not None and each.keyword.value == keyword), None)


def keyword_added(call: cst.Call, keyword: str, value: str) -> cst.Call:
    """The call with a keyword set, in the comma style of the call; an argument of that name gets the new value."""
    present = argument(call, keyword)
    if present is not None:
        return call.with_deep_changes(present, value=expression(value))
    new = cst.Arg(
        value=expression(value),
        keyword=cst.Name(keyword),
        equal=cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace("")),
    )
    place = len(call.args) - sum(each.star == "**" for each in call.args)
    before, after = list(call.args[:place]), list(call.args[place:])
    if before:
        last = before[-1]
        trailing = isinstance(last.comma, cst.Comma)
        # A trailing comma belongs to a call that is written one argument a line: the new one is written alike.
        between = _between(call) if trailing else cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
        new = new.with_changes(
            comma=last.comma if trailing else cst.MaybeSentinel.DEFAULT,
            whitespace_after_arg=last.whitespace_after_arg,
        )
        before[-1] = last.with_changes(comma=between, whitespace_after_arg=cst.SimpleWhitespace(""))
    if after:
        new = new.with_changes(comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")))
    return call.with_changes(args=[*before, new, *after])


def _between(call: cst.Call) -> cst.Comma:
    """The comma between two arguments of a call; with one argument, the space in front of it."""
    if len(call.args) > 1 and isinstance(call.args[0].comma, cst.Comma):
        return call.args[0].comma
    return cst.Comma(whitespace_after=call.whitespace_before_args)


def moved(node: cst.BaseExpression, device: str) -> cst.BaseExpression:
    """The expression moved to a device: merged into a `.to(dtype)` at its end, else `.to(device)` behind it."""
    if isinstance(node, cst.Call) and last_name(node.func) == "to" and isinstance(node.func, cst.Attribute):
        merged = _merged(node, device)
        if merged is not None:
            return merged
    inner = node if isinstance(node, ATOMS) or node.lpar else _parenthesised(node)
    to = cst.Attribute(value=inner, attr=cst.Name("to"))
    return cst.Call(func=to, args=[cst.Arg(expression(device))])


def _merged(call: cst.Call, device: str) -> cst.Call | None:
    """`.to(dtype)` with the device beside the dtype; None where the call is not a cast alone."""
    first = call.args[0] if call.args else None
    if first is None or argument(call, "device") or any(each.star for each in call.args):
        return None
    text = cst.Module([]).code_for_node(first.value)
    if first.keyword is None and DTYPE.search(text) is None:
        return None
    if first.keyword is None:
        named = first.with_changes(keyword=cst.Name("dtype"), equal=_tight())
        call = call.with_changes(args=[named, *call.args[1:]])
    elif argument(call, "dtype") is None:
        return None
    return keyword_added(call, "device", device)


def _tight() -> cst.AssignEqual:
    return cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))


def _parenthesised(node: cst.BaseExpression) -> cst.BaseExpression:
    return node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def inserted_before(file: File, statement: cst.CSTNode, lines: Sequence[str]) -> cst.Module | None:
    """The module with statements before one; None where it stands in a suite on one line (`if x: y`).

    Comments and blank lines above the statement stay above it, since they mostly speak of what follows.
    """
    parent = file.parent(statement)
    if not isinstance(parent, cst.IndentedBlock | cst.Module):
        return None
    index = next(i for i, each in enumerate(parent.body) if each is statement)
    new = [cst.parse_statement(line, config=file.module.config_for_parsing) for line in lines]
    old = parent.body[index]
    if isinstance(old, cst.SimpleStatementLine | cst.BaseCompoundStatement) and hasattr(old, "leading_lines"):
        new[0] = new[0].with_changes(leading_lines=old.leading_lines)
        old = old.with_changes(leading_lines=())
    body = [*parent.body[:index], *new, old, *parent.body[index + 1 :]]
    if isinstance(parent, cst.Module):
        return file.module.with_changes(body=body)
    return file.replaced({parent: parent.with_changes(body=body)})


def inserted_after(file: File, statement: cst.CSTNode, lines: Sequence[str]) -> cst.Module | None:
    """The module with statements after one; None where it stands in a suite on one line."""
    parent = file.parent(statement)
    if not isinstance(parent, cst.IndentedBlock | cst.Module):
        return None
    index = next(i for i, each in enumerate(parent.body) if each is statement)
    new = [cst.parse_statement(line, config=file.module.config_for_parsing) for line in lines]
    body = [*parent.body[: index + 1], *new, *parent.body[index + 1 :]]
    if isinstance(parent, cst.Module):
        return file.module.with_changes(body=body)
    return file.replaced({parent: parent.with_changes(body=body)})
