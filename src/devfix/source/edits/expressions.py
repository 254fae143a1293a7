"""Transform calls and expressions: keywords, moves, methods. Each function returns a new node for `File.replace`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypeGuard

import libcst as cst

from devfix.source import File, code, last_name
from devfix.source.queries.reading import method_call_on

DTYPE = re.compile(r"(^|[._])(dtype|float\d*|bfloat16|half|double|int\d*|uint8|long|short|bool|complex\d*)$")
MOVES = ("to", "cuda", "cpu")
# What creates a leaf of the autograd graph by `requires_grad=True`.
CREATES_LEAF = re.compile(r"(rand|randn|normal|zeros|ones|full|empty)(_like)?|tensor|eye|arange|linspace|logspace")
SPACED = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
ATOMS = (cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.Tuple, cst.List)


def expression(text: str) -> cst.BaseExpression:
    """Parse an expression. Raises libcst.ParserSyntaxError for invalid text.

    >>> code(expression("x.device"))
    'x.device'
    """
    return cst.parse_expression(text)


def join_tests(test: cst.BaseExpression, operator: cst.And | cst.Or, other: str) -> cst.BooleanOperation:
    """Return a test joined with another one by an operator, in parentheses where it needs them.

    >>> code(join_tests(expression("a and b"), cst.Or(), "c"))
    '(a and b) or c'
    """
    is_other = isinstance(test, cst.BooleanOperation) and not isinstance(test.operator, type(operator))
    if is_other or isinstance(test, cst.IfExp | cst.Lambda):
        test = test.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    return cst.BooleanOperation(test, operator, expression(other))


def argument(call: cst.Call, keyword: str, position: int | None = None) -> cst.Arg | None:
    """Return the argument with a keyword, or at a position (from 0) without starred arguments before it; else None.

    >>> call = expression("torch.load(path, map_location='cpu')")
    >>> code(argument(call, "map_location").value), argument(call, "weights_only") is None
    ("'cpu'", True)
    >>> code(argument(call, "f", 0).value)
    'path'
    """
    named = next((each for each in call.args if each.keyword is not None and each.keyword.value == keyword), None)
    if named is not None or position is None or position >= len(call.args):
        return named
    before = call.args[: position + 1]
    return None if any(each.star or each.keyword for each in before) else before[-1]


def add_keyword(call: cst.Call, keyword: str, value: str) -> cst.Call:
    """Return the call with a keyword set, in the comma style of the call; an existing argument gets the new value.

    >>> code(add_keyword(expression("torch.zeros(3)"), "device", "x.device"))
    'torch.zeros(3, device=x.device)'
    """
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
        # A trailing comma indicates one argument per line: the new one gets its own line too, and comments stay with
        # their arguments.
        between = with_comment_of(last.comma, _between(call)) if isinstance(last.comma, cst.Comma) else SPACED
        new = new.with_changes(
            comma=with_comment_of(None, last.comma) if isinstance(last.comma, cst.Comma) else cst.MaybeSentinel.DEFAULT,
            whitespace_after_arg=last.whitespace_after_arg,
        )
        before[-1] = last.with_changes(comma=between, whitespace_after_arg=cst.SimpleWhitespace(""))
    if after:
        new = new.with_changes(comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")))
    return call.with_changes(args=[*before, new, *after])


def remove_keyword(call: cst.Call, keyword: str) -> cst.Call:
    """Return the call without a keyword, or unchanged if it lacks the keyword.

    >>> code(remove_keyword(expression("torch.zeros(3, device='cuda')"), "device"))
    'torch.zeros(3)'
    """
    found = argument(call, keyword)
    if found is None:
        return call
    left = [each for each in call.args if each is not found]
    if left and found is call.args[-1]:
        left[-1] = left[-1].with_changes(comma=found.comma, whitespace_after_arg=found.whitespace_after_arg)
    return call.with_changes(args=left)


def _between(call: cst.Call) -> cst.Comma:
    """Return the comma between two arguments of a call; with one argument, the space before it."""
    if len(call.args) > 1 and isinstance(call.args[0].comma, cst.Comma):
        return call.args[0].comma
    return cst.Comma(whitespace_after=call.whitespace_before_args)


def with_comment_of(commented: cst.Comma | None, comma: cst.Comma) -> cst.Comma:
    """Return a comma with the comment that follows another one, or without a comment."""
    space = comma.whitespace_after
    if not isinstance(space, cst.ParenthesizedWhitespace):
        return comma
    if commented is None:
        bare = space.first_line.with_changes(comment=None, whitespace=cst.SimpleWhitespace(""))
        return comma.with_changes(whitespace_after=space.with_changes(first_line=bare))
    other = commented.whitespace_after
    line = other.first_line if isinstance(other, cst.ParenthesizedWhitespace) else cst.TrailingWhitespace()
    return comma.with_changes(whitespace_after=space.with_changes(first_line=line, empty_lines=()))


def move_unless_none(node: cst.BaseExpression, device: str) -> cst.IfExp:
    """Return an expression that moves what another one holds, or is None where that is.

    >>> cst.Module([]).code_for_node(move_unless_none(expression("self.weight"), "x.device"))
    'None if self.weight is None else self.weight.to(x.device)'
    """
    asked = cst.Comparison(node, [cst.ComparisonTarget(cst.Is(), cst.Name("None"))])
    return cst.IfExp(asked, cst.Name("None"), move_to(node, device))


def move_to(node: cst.BaseExpression, device: str) -> cst.BaseExpression:
    """Return the expression moved to a device: merged into a `.to(dtype)` at its end, else with `.to(device)` appended.

    What is created to be trained is moved before that is asked for, since the gradient goes to the leaf of the graph.

    >>> code(move_to(expression("a + b"), "x.device")), code(move_to(expression("a.to(torch.half)"), "device"))
    ('(a + b).to(x.device)', 'a.to(dtype=torch.half, device=device)')
    >>> code(move_to(expression("torch.randn(3, requires_grad=True)"), "device"))
    'torch.randn(3).to(device).requires_grad_()'
    """
    if isinstance(node, cst.Call) and (leaf := _split_leaf(node)) is not None:
        return call_method(move_to(leaf[0], device), "requires_grad_", *leaf[1])
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        merged = _merge_device(node, device)
        if merged is not None:
            return merged
    return call_method(node, "cpu") if device in ('"cpu"', "'cpu'") else call_method(node, "to", device)


def _split_leaf(call: cst.Call) -> tuple[cst.BaseExpression, list[str]] | None:
    """Return the tensor that a call creates to be trained, and the arguments of `requires_grad_`; None for others."""
    created = receiver(call)
    if created is not None and last_name(call.func) == "requires_grad_" and isinstance(created, cst.Call):
        return created, [code(each.value) for each in call.args]
    given = argument(call, "requires_grad") if CREATES_LEAF.fullmatch(last_name(call.func)) else None
    if given is None or code(given.value) == "False":
        return None
    return remove_keyword(call, "requires_grad"), [] if code(given.value) == "True" else [code(given.value)]


def moves_of(file: File, nodes: Iterable[cst.BaseExpression], device: str) -> dict[cst.CSTNode, cst.CSTNode]:
    """Return edits that move expressions of a file to a device: in the cast that follows one, `x.to(dtype)`, if any.

    >>> file = File("m.py", b"y = x.to(dtype=z.dtype) + x\\n")
    >>> code(file.replace(moves_of(file, file.find(file.module, "x"), "z.device")))
    'y = x.to(dtype=z.dtype, device=z.device) + x.to(z.device)\\n'
    """
    edits: dict[cst.CSTNode, cst.CSTNode] = {}
    for node in nodes:
        cast = method_call_on(file, node)
        if cast is not None and (merged := _merge_device(cast, device)) is not None:
            edits[cast] = merged
        else:
            edits[node] = move_to(node, device)
    return edits


def call_method(node: cst.BaseExpression, method: str, *arguments: str) -> cst.Call:
    """Return the call of a method on an expression, in parentheses if necessary.

    >>> code(call_method(expression("loss"), "cpu")), code(call_method(expression("-x"), "type_as", "y"))
    ('loss.cpu()', '(-x).type_as(y)')
    """
    inner = node if isinstance(node, ATOMS) or node.lpar else _add_parentheses(node)
    function = cst.Attribute(value=inner, attr=cst.Name(method))
    return cst.Call(func=function, args=[cst.Arg(expression(each)) for each in arguments])


def receiver(node: cst.CSTNode | None) -> cst.BaseExpression | None:
    """Return the object on which a method is called: `x` of `x.cpu()`; None for what is no call of a method.

    >>> code(receiver(expression("self.net.cuda()"))), receiver(expression("cuda(net)"))
    ('self.net', None)
    """
    return node.func.value if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) else None


def is_move(node: cst.CSTNode | None) -> TypeGuard[cst.Call]:
    """Return whether an expression is a call that may move a tensor or module: `.to(…)`, `.cuda(…)` or `.cpu()`.

    >>> is_move(expression("model.cuda()")), is_move(expression("model.eval()"))
    (True, False)
    """
    return isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value in MOVES


def remove_move(node: cst.BaseExpression) -> cst.BaseExpression:
    """Return an expression without the moves at its end; a `.to` that casts keeps its dtype.

    >>> code(remove_move(expression("x.float().cuda()"))), code(remove_move(expression("x.to('cuda', torch.half)")))
    ('x.float()', 'x.to(torch.half)')
    """
    while isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and is_move(node):
        cast = [each.with_changes(comma=cst.MaybeSentinel.DEFAULT) for each in node.args if _is_dtype(each)]
        if cast:
            return node.with_changes(args=cast)
        node = node.func.value
    return node


def _is_dtype(given: cst.Arg) -> bool:
    named = given.keyword.value if given.keyword else ""
    return named == "dtype" or (not named and DTYPE.search(code(given.value)) is not None)


def _merge_device(call: cst.Call, device: str) -> cst.Call | None:
    """Return `.to(dtype)` with the device added; None if the call is not only a cast."""
    if last_name(call.func) != "to":
        return None
    first = call.args[0] if call.args else None
    if first is None or argument(call, "device") or any(each.star for each in call.args):
        return None
    if any(each.keyword is None for each in call.args[1:]):  # positional arguments must not follow a keyword
        return None
    text = code(first.value)
    if first.keyword is None and DTYPE.search(text) is None:
        return None
    if first.keyword is None:
        named = first.with_changes(keyword=cst.Name("dtype"), equal=_tight())
        call = call.with_changes(args=[named, *call.args[1:]])
    elif argument(call, "dtype") is None:
        return None
    return add_keyword(call, "device", device)


def _tight() -> cst.AssignEqual:
    return cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))


def _add_parentheses(node: cst.BaseExpression) -> cst.BaseExpression:
    return node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
