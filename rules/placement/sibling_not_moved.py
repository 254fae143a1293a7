"""A function makes two tensors, moves one of them, and hands out both."""

from collections.abc import Iterator

import libcst as cst

from devfix.sdk import (
    Change,
    Diagnosis,
    Failure,
    File,
    Finding,
    FixSite,
    Operand,
    SourceLocation,
    Sources,
    assignments,
    blamed_operand,
    change,
    describe,
    device_expressions,
    expression,
    frame_of,
    insert_after,
    is_intentional,
    loop_event,
    misplaced_operands,
    move_to,
    named_at,
    occurrences,
    peer_operand,
    scope_at,
    was_moved_to,
)


def diagnose(failure: Failure) -> Finding | None:
    """Report an operand that was at hand, and stayed where it was, when a function now over moved its peer."""
    for index, operand, other in misplaced_operands(failure):
        place = _sibling_moved(failure, other)
        if place is None or operand.owner is not None or is_intentional(failure, operand):
            continue
        if loop_event(failure, operand) is not None or not named_at(failure, place, operand):
            continue
        siblings = named_at(failure, place, other)
        sibling = f"`{siblings[0]}`" if siblings else describe(other)
        reason = (
            f"{describe(operand)} stayed on {operand.device} in {place.path}:{place.line}, where its sibling {sibling}"
            f" was moved to {other.device}."
        )
        return Finding(index, reason, strength=1)
    return None


def _sibling_moved(failure: Failure, other: Operand) -> SourceLocation | None:
    place = was_moved_to(other, other.device.partition(":")[0]) if other.owner is None else None
    return place if place is not None and frame_of(failure, place) is None else None


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Move it as its sibling is: by the same statement with its own name, else where that statement reads it."""
    failure, other = diagnosis.failure, peer_operand(diagnosis)
    place = _sibling_moved(failure, other) if other is not None else None
    file = source.file(place) if place is not None else None
    statement = file.statement_of(file.root_at(place)) if file is not None and place is not None else None
    if file is None or place is None or other is None or statement is None:
        return
    siblings = _named(failure, place, other, file)
    for name in (each for each in _named(failure, place, blamed_operand(diagnosis), file) if each not in siblings):
        yield from _in_place(diagnosis, place, file, statement, name)
        for sibling in siblings:
            found = _alike(file, statement, sibling, name)
            if found is not None:
                yield found


def _named(failure: Failure, place: SourceLocation, operand: Operand, file: File) -> list[str]:
    """What an operand is called at a place; of what was made of the same tensor, that which its own steps assign."""
    names = named_at(failure, place, operand)
    steps = [file.root_at(each) for event in operand.history for each in event.places if each.path == file.path]
    statements = [file.statement_of(node) for node in steps if node is not None]
    own = [name for name in names if any(file.statement_of(each) in statements for each in assignments(file, name))]
    return own or names


def _in_place(
    diagnosis: Diagnosis, place: SourceLocation, file: File, statement: cst.CSTNode, name: str
) -> Iterator[Change]:
    """`return x.to(device), y`: move it where the statement that moves its sibling reads it."""
    spot = FixSite("derived", place, scope_at(diagnosis.failure, place))
    for node in occurrences(file, statement, name)[:1]:
        for anchor in device_expressions(diagnosis, spot, file):
            found = change(
                file, file.replaced({node: move_to(node, anchor)}), f"Move `{name}` to `{anchor}`, as its sibling"
            )
            if found is not None:
                yield found


def _alike(file: File, statement: cst.CSTNode, sibling: str, name: str) -> Change | None:
    """`x = x.to(device)`, with `y` for `x`, below."""
    assign = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1 else None
    if not isinstance(assign, cst.Assign) or len(assign.targets) != 1 or file.find(statement, name):
        return None
    if file.code(assign.targets[0].target) != sibling:
        return None
    alone = File("", file.code(assign).encode())
    again = alone.replaced({node: expression(name) for node in alone.find(alone.module, sibling)})
    return change(file, insert_after(file, statement, [again.code]), f"Move `{name}` as `{sibling}` is moved")
