"""A tensor is brought to the host by a stray `.cpu()` and then meets others that are not."""

from collections.abc import Iterator

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
    frame_of,
    is_move,
    last_name,
    misplaced_operands,
    move_to,
    remove_move,
    was_moved_to,
)

GATHERING = ("append", "extend", "add", "insert")


def diagnose(failure: Failure) -> Finding | None:
    """Report an operand that a function which still runs brought to the host, beside one that it did not."""
    for index, operand, peer in misplaced_operands(failure):
        place = was_moved_to(operand, "cpu") if operand.device == "cpu" and operand.owner is None else None
        if place is None or frame_of(failure, place) is None:
            continue
        reason = (
            f"{describe(operand)} was brought to the host in {place.path}:{place.line}, though it meets a tensor on"
            f" {peer.device} afterwards."
        )
        return Finding(index, reason, strength=2)
    return None


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Take the move away."""
    operand = blamed_operand(diagnosis)
    place = was_moved_to(operand, "cpu")
    file = source.file(place) if place is not None else None
    if file is None or place is None:
        return
    call = next((each for each in file.expressions_at(place) if isinstance(each, cst.Call) and is_move(each)), None)
    if call is None or not isinstance(call.func, cst.Attribute):
        return
    if _is_gathered(file, call):
        yield from _gathered_alike(diagnosis, file, call)
        return
    title = f"Leave `{file.code(call.func.value)}` where it is"
    found = change(file, file.replaced({call: remove_move(call)}), title, "likely")
    if found:
        yield found


def _is_gathered(file: File, call: cst.Call) -> bool:
    """Whether a loop gathers what it moves to the host: somebody wants the GPU free of what the loop has done."""
    given = file.parent(call)
    return bool(file.loops_around(call)) and isinstance(given, cst.Arg) and _gathers(file.parent(given))


def _gathers(node: cst.CSTNode | None) -> bool:
    return isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and last_name(node.func) in GATHERING


def _gathered_alike(diagnosis: Diagnosis, file: File, call: cst.Call) -> Iterator[Change]:
    """Bring to the host what the same loop gathers in the lists that meet this one."""
    at = diagnosis.failure.at
    root = file.root_at(at) if at is not None and at.path == file.path else None
    statement = file.statement_of(root) if root is not None else None
    if statement is None:
        return
    edits: dict[cst.CSTNode, cst.CSTNode] = {}
    for node in file.within(file.loops_around(call)[0]):
        if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute) or not _gathers(node):
            continue
        if node.args and not is_move(node.args[-1].value) and file.find(statement, file.code(node.func.value)):
            edits[node.args[-1].value] = move_to(node.args[-1].value, '"cpu"')
    names = ", ".join(f"`{file.code(each)}`" for each in edits)
    found = change(file, file.replaced(edits), f"Bring {names} to the host, as the loop does beside it", "likely")
    if edits and found:
        yield found
