"""The result of `tensor.to(device)` is dropped, or used once, and the old tensor is read on."""

from collections.abc import Iterator
from itertools import takewhile

import libcst as cst

from devfix.sdk import (
    Change,
    Diagnosis,
    Failure,
    File,
    Finding,
    Sources,
    blamed_operand,
    change,
    describe,
    expression,
    is_local,
    is_move,
    misplaced_operands,
    replace_statement,
)

SCOPES = (cst.Lambda, cst.BaseComp)  # names that are bound in them are none of the statement's


def diagnose(failure: Failure) -> Finding | None:
    """Report an operand of which a copy was made on the right device, while the operand itself was used on."""
    for index, operand, peer in misplaced_operands(failure):
        copy = operand.copy
        place = copy.owned_place if copy is not None else None
        if copy is None or place is None or copy.device != peer.device:
            continue
        # What a parameter's `.to()` returns is none; a module moves its own.
        if operand.owner is not None and operand.owner.kind == "parameter":
            continue
        reason = (
            f"{describe(operand)} was copied to {copy.device} in {place.path}:{place.line}, but it is the old tensor,"
            f" on {operand.device}, that is used."
        )
        return Finding(index, reason, strength=1)
    return None


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Give the result of a move that stands alone, or is handed on at once, to the name that was moved."""
    copy = blamed_operand(diagnosis).copy
    place = copy.owned_place if copy is not None else None
    file = source.file(place) if place is not None else None
    call = file.call_at(place, ("to", "cuda", "cpu")) if file is not None and place is not None else None
    if file is None or call is None or not is_move(call):
        return
    alone = file.parent(call)
    module = _kept(file, call, alone) if isinstance(alone, cst.Expr) else _kept_before(file, call)
    safety = "safe" if isinstance(alone, cst.Expr) else "likely"
    if found := change(file, module, f"Keep the result of `{file.code(call)}`", safety):
        yield found


def _kept(file: File, call: cst.Call, alone: cst.Expr) -> cst.Module | None:
    target = _target(file, call)
    if not isinstance(target, cst.Name | cst.Attribute | cst.Subscript):
        return None
    return file.replaced({alone: cst.Assign(targets=[cst.AssignTarget(target)], value=call)})


def _kept_before(file: File, call: cst.Call) -> cst.Module | None:
    """The move in front of its statement, which another one below that reads the name stands for."""
    moved = call.func.value if isinstance(call.func, cst.Attribute) else None
    statement, function = file.statement_of(call), file.function_of(call)
    if not isinstance(moved, cst.Name) or not isinstance(statement, cst.SimpleStatementLine):
        return None
    if function is not None and not is_local(function, moved.value):
        return None
    around = list(takewhile(lambda node: node is not statement, file.ancestors(call)))
    if any(isinstance(node, SCOPES) for node in around) or isinstance(around[-1], cst.Return):
        return None
    if isinstance(around[-1], cst.Assign | cst.AnnAssign) and around[-1].value is call:
        return None  # the copy has a name of its own
    below = [
        each for each in file.find(function or file.module, moved.value) if file.line_of(each) > file.line_of(call)
    ]
    if not below:
        return None
    rest = cst.ensure_type(statement.deep_replace(call, moved), cst.SimpleStatementLine)
    bare = cst.Module([rest.with_changes(leading_lines=(), trailing_whitespace=cst.TrailingWhitespace())])
    return replace_statement(file, statement, [f"{moved.value} = {file.code(call)}", bare.code])


def _target(file: File, call: cst.Call) -> cst.BaseExpression | None:
    """Where the result belongs: in what was moved; for a loop's variable that is read no more, where it came from."""
    moved = call.func.value if isinstance(call.func, cst.Attribute) else None
    if not isinstance(moved, cst.Name):
        return moved
    for loop in file.loops_around(call):
        if isinstance(loop, cst.For) and file.find(loop.target, moved.value):
            read_again = any(file.line_of(each) > file.line_of(call) for each in file.find(loop.body, moved.value))
            return moved if read_again else _entry(file, loop, moved)
    return moved


def _entry(file: File, loop: cst.For, moved: cst.Name) -> cst.BaseExpression | None:
    """`batch[key]` for the `value` of `for key, value in batch.items()`; None for other loops."""
    whole, dot, method = file.code(loop.iter).rpartition(".")
    names = [file.code(each.value) for each in loop.target.elements] if isinstance(loop.target, cst.Tuple) else []
    if dot and method == "items()" and len(names) == 2 and names[1] == moved.value:
        return expression(f"{whole}[{names[0]}]")
    return None
