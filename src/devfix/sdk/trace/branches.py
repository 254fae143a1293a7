"""Find the `if` before which a tensor is moved for all of its branches, since they combine it with the same others."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import takewhile

import libcst as cst

from devfix.model import Diagnosis
from devfix.sdk.trace.flows import SAME_EVERYWHERE, is_for_host, is_on_device
from devfix.sdk.trace.operands import peer_operand
from devfix.sdk.trace.sites import FixSite
from devfix.source import File
from devfix.source.edits.expressions import is_move
from devfix.source.queries.bound_names import is_bound, root_name
from devfix.source.queries.loops import outside_loops
from devfix.source.queries.optional import is_told_apart, may_be_left_none, may_be_no_tensor
from devfix.source.queries.reading import assigned_targets, is_read, method_call_on


def hoisting_point(
    file: File, node: cst.CSTNode, text: str, anchor: str, others: Collection[str] = ()
) -> cst.CSTNode | None:
    """Return the statement before which an expression is moved: around loops, else around branches that use it alike.

    `others` are expressions that it meets, beside the one whose device `anchor` is.

    >>> lines = b"def f(x, m, kind):\\n    if kind:\\n        y = x + m\\n    else:\\n        y = x * m\\n"
    >>> file = File("m.py", lines)
    >>> node = file.find(file.module, "x + m")[0]
    >>> [type(hoisting_point(file, node, "m", each)).__name__ for each in ("x.device", "kind.device")]
    ['If', 'SimpleStatementLine']
    """
    place = outside_loops(file, node, text, anchor)
    if place is None or place is not file.statement_of(node):
        return place
    return before_branches(file, node, text, anchor, others) or place


def before_branches(
    file: File, node: cst.CSTNode, text: str, anchor: str, others: Collection[str] = ()
) -> cst.If | None:
    """Return the `if` of which a statement's branch and others combine an expression with the same tensors.

    Returns None if nothing beside the statement's branch combines them, if a test asks for one of them, if a branch
    uses the expression otherwise, or if it may be something else, or no tensor, before the `if`.
    """
    statement = file.statement_of(node)
    own = file.parent(statement) if statement is not None else None
    head = _head_of(file, own) if isinstance(statement, cst.SimpleStatementLine) and own is not None else None
    holder = anchor.removesuffix(".device")
    met = {holder, *others} - {"self", "cls", text}
    if head is None or own is None or not met or file.is_bound_within(node, root_name(text)):
        return None
    if any(_asks_for(file, each, name) for each in _tests(head) for name in (text, holder)):
        return None
    above = [*takewhile(lambda line: line is not statement, own.body)] if isinstance(own, cst.IndentedBlock) else []
    if any(_changes(file, line, name) for line in above for name in (text, holder)):
        return None
    if not all(_is_known(file, head, name) for name in (text, holder)):
        return None
    beside = [read for each in _bodies(head) if each is not own for read in _uses(file, each, text)]
    return head if beside and all(_meets(file, read, met) for read in beside) else None


def met_beside(file: File, node: cst.CSTNode, text: str, others: Collection[str]) -> list[cst.BaseExpression]:
    """Return where other branches of the `if` around a statement combine an expression with one of some others.

    Not below a statement of a branch that gives it another value.

    >>> file = File("m.py", b"if a:\\n    y = x + m\\nelif b:\\n    y = x * m\\nelse:\\n    y = m + 1\\n")
    >>> found = met_beside(file, file.find(file.module, "x + m")[0], "m", ["x"])
    >>> [file.line_of(each) for each in found]
    [4]
    """
    own = file.parent(file.statement_of(node) or node)
    head = _head_of(file, own) if own is not None else None
    found = []
    for body in _bodies(head) if head is not None else ():
        meeting = [each for each in _uses(file, body, text) if body is not own and _meets(file, each, others)]
        given = [file.line_of(line) for line in body.body if _changes(file, line, text)]
        found += [each for each in meeting if file.line_of(each) <= min(given, default=file.line_of(each))]
    return found


def met_names(diagnosis: Diagnosis, site: FixSite) -> set[str]:
    """Return the expressions at a site of what the blamed operand met, and of what that was computed from."""
    peer = peer_operand(diagnosis)
    known = (*peer.names, *peer.sources) if peer is not None else ()
    return {each.expression for each in known if each.frame == site.frame}


def _head_of(file: File, block: cst.CSTNode) -> cst.If | None:
    """Return the `if` whose branch, or whose `elif` or `else`, is a block."""
    around = file.parent(block)
    if isinstance(around, cst.Else):
        around = file.parent(around)
    if not isinstance(around, cst.If):
        return None
    while isinstance(above := file.parent(around), cst.If):  # whose `elif` it is: another one would be in a block
        around = above
    return around


def _chain(head: cst.If) -> Iterator[cst.If | cst.Else]:
    each: cst.If | cst.Else | None = head
    while each is not None:
        yield each
        each = each.orelse if isinstance(each, cst.If) else None


def _tests(head: cst.If) -> list[cst.BaseExpression]:
    return [each.test for each in _chain(head) if isinstance(each, cst.If)]


def _bodies(head: cst.If) -> list[cst.BaseSuite]:
    return [each.body for each in _chain(head)]


def _asks_for(file: File, test: cst.BaseExpression, name: str) -> bool:
    """Return whether a test reads more of an expression than its shape or type of elements."""
    parents = [file.parent(each) for each in file.find(test, name)]
    return any(not isinstance(each, cst.Attribute) or each.attr.value not in SAME_EVERYWHERE for each in parents)


def written_targets(line: cst.CSTNode) -> list[cst.BaseExpression]:
    """Return what a statement assigns or updates at its own line."""
    small = line.body if isinstance(line, cst.SimpleStatementLine) else ()
    return [*assigned_targets(line), *(each.target for each in small if isinstance(each, cst.AugAssign))]


def _changes(file: File, line: cst.CSTNode, name: str) -> bool:
    """Return whether a statement, or one in it, binds an expression or what it is a part of."""
    targets = [file.code(each) for part in (line, *file.within(line)) for each in written_targets(part)]
    return any(name == each or name.startswith((f"{each}.", f"{each}[")) for each in targets)


def _is_known(file: File, head: cst.If, name: str) -> bool:
    """Return whether an expression is a tensor, as far as the file tells, wherever an `if` runs."""
    if not is_bound(file, head, name) or may_be_left_none(file, head, name):
        return False
    return not may_be_no_tensor(file, head, root_name(name)) and not is_told_apart(file, head, name)


def _uses(file: File, body: cst.CSTNode, text: str) -> list[cst.BaseExpression]:
    """Return where the data of an expression is used, or updated."""
    found = file.find(body, text)
    updated = [each for each in found if isinstance(file.parent(each), cst.AugAssign)]
    return updated + [
        each for each in found if each not in updated and is_read(file, each) and is_on_device(file, each)
    ]


def _meets(file: File, node: cst.BaseExpression, others: Collection[str]) -> bool:
    """Return whether a statement combines an expression as it is with one of some others as it is."""
    line = file.statement_of(node)
    if not isinstance(line, cst.SimpleStatementLine) or not _is_as_it_is(file, node):
        return False
    return any(_is_as_it_is(file, each) for name in others for each in _uses(file, line, name))


def _is_as_it_is(file: File, node: cst.BaseExpression) -> bool:
    return not is_move(method_call_on(file, node)) and not is_for_host(file, node)
