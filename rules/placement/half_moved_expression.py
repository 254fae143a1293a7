"""One factory of an expression was given the device, and one beside it was not."""

from collections.abc import Iterator

import libcst as cst

from devfix.sdk import (
    FACTORIES,
    Change,
    Diagnosis,
    Failure,
    File,
    Finding,
    Sources,
    add_keyword,
    argument,
    blamed_operand,
    change,
    code,
    creation_location,
    describe,
    is_intentional,
    last_name,
    misplaced_operands,
    peer_operand,
)


def diagnose(failure: Failure) -> Finding | None:
    """Report a factory without a device in the function in which its peer was made on one."""
    for index, operand, other in misplaced_operands(failure):
        mine, its = creation_location(operand), creation_location(other)
        if mine is None or its is None or operand.owner is not None or is_intentional(failure, operand):
            continue
        births = (operand.creation, other.creation)
        made = all(birth is not None and birth.kind in ("factory", "constant") for birth in births)
        placed = other.creation is not None and other.creation.device == other.device
        if not made or not placed or (mine.path, mine.function) != (its.path, its.function):
            continue
        reason = (
            f"{describe(operand)} was made in {mine.path}:{mine.line} without a device, beside {describe(other)}, which"
            f" was made on {other.device} in line {its.line}: half of the expression was moved."
        )
        return Finding(index, reason, strength=1)
    return None


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Give every such factory that meets the moved one the device which that was given."""
    place, other = creation_location(blamed_operand(diagnosis)), peer_operand(diagnosis)
    its = creation_location(other) if other else None
    file = source.file(place) if place is not None else None
    if file is None or place is None or its is None:
        return
    moved = file.call_at(its, tuple(FACTORIES))
    wrong = file.call_at(place, tuple(FACTORIES))
    given = argument(moved, "device") if moved is not None else None
    if moved is None or wrong is None or given is None or argument(wrong, "device") is not None:
        return
    edits = {each: add_keyword(each, "device", code(given.value)) for each in _alike(file, wrong, moved)}
    title = f"Give `{file.code(wrong.func)}` the device `{code(given.value)}`, as the one beside it has"
    found = change(file, file.replaced(edits), title)
    if found:
        yield found


def _alike(file: File, wrong: cst.Call, moved: cst.Call) -> list[cst.Call]:
    """The factory itself, and those of its name without a device in statements that use the moved one's name."""
    function = file.function_of(wrong)
    name = _assigned(file, moved)
    found = [wrong]
    for node in file.within(function) if function is not None and name else ():
        if not isinstance(node, cst.Call) or node is wrong or last_name(node.func) != last_name(wrong.func):
            continue
        statement = file.statement_of(node)
        if argument(node, "device") is None and statement is not None and file.find(statement, name):
            found.append(node)
    return found


def _assigned(file: File, call: cst.Call) -> str:
    """The name that a statement gives to what a call makes; "" where it gives none."""
    statement = file.statement_of(call)
    lines = statement.body if isinstance(statement, cst.SimpleStatementLine) else ()
    targets = [each.targets[0].target for each in lines if isinstance(each, cst.Assign) and len(each.targets) == 1]
    return file.code(targets[0]) if targets and isinstance(targets[0], cst.Name) else ""
