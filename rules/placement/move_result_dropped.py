"""`tensor.to(device)` stands alone: it returns the moved tensor and leaves the old one where it is."""

from collections.abc import Iterator

import libcst as cst

from devfix.sdk import (
    Blame,
    Change,
    Diagnosis,
    Failure,
    File,
    Sources,
    blamed,
    change,
    describe,
    expression,
    is_move,
    strangers,
)


def diagnose(failure: Failure) -> Blame | None:
    """Blame an operand of which a copy was made on the right device, while the operand itself was used on."""
    for index, operand, peer in strangers(failure):
        copy = operand.copy
        place = copy.owned_place if copy is not None else None
        if copy is None or place is None or copy.device != peer.device:
            continue
        # What a parameter's `.to()` returns is none; a module moves its own.
        if operand.owner is not None and operand.owner.kind == "parameter":
            continue
        because = (
            f"{describe(operand)} was copied to {copy.device} in {place.path}:{place.line}, but it is the old tensor,"
            f" on {operand.device}, that is used."
        )
        return Blame(index, because, strength=1)
    return None


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Give the result of a move that stands alone to the name that was moved."""
    copy = blamed(diagnosis).copy
    place = copy.owned_place if copy is not None else None
    file = source.file(place) if place is not None else None
    call = file.call_at(place, ("to", "cuda", "cpu")) if file is not None and place is not None else None
    statement = file.parent(call) if file is not None and call is not None else None
    if file is None or call is None or not isinstance(statement, cst.Expr) or not is_move(call):
        return
    target = _target(file, call)
    if isinstance(target, cst.Name | cst.Attribute | cst.Subscript):
        kept = cst.Assign(targets=[cst.AssignTarget(target)], value=call)
        found = change(file, file.replaced({statement: kept}), f"Keep the result of `{file.code(call)}`")
        if found:
            yield found


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
