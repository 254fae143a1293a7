"""A tensor made when a module is imported stays on the host and is handed to code on another device."""

from collections.abc import Iterator

import libcst as cst

from devfix.sdk import (
    Change,
    Diagnosis,
    Failure,
    File,
    Finding,
    FixSite,
    Sources,
    change,
    describe,
    device_expressions,
    fix_sites,
    frame_of,
    is_bound,
    is_intentional,
    is_local,
    is_move,
    misplaced_operands,
    move_argument,
    move_assigned,
    move_result,
    move_to,
)


def diagnose(failure: Failure) -> Finding | None:
    """Report an operand that was born while a file was imported, which is over, and never moved since."""
    for index, operand, peer in misplaced_operands(failure):
        held = operand.owner is not None and operand.owner.kind in ("parameter", "buffer")
        birth = operand.creation
        if birth is None or held or is_intentional(failure, operand):
            continue
        imported = next((place for place in birth.places if place.owned and place.function == "<module>"), None)
        if imported is None or birth.places[0].path != imported.path or frame_of(failure, imported) is not None:
            continue
        reason = (
            f"{describe(operand)} is a constant of {imported.path}, made on {operand.device} when the file was"
            f" imported; nobody moved it to {peer.device}."
        )
        return Finding(index, reason, strength=2)
    return None


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Move it where it is handed in: a constant serves every device, so it is not the constant that changes."""
    for spot in fix_sites(diagnosis):
        if spot.kind == "derived" and frame_of(diagnosis.failure, spot.place) is not None:
            yield from move_result(diagnosis, spot, source)
        elif spot.kind in ("handover", "use"):
            yield from _read_above(diagnosis, spot, source)
            yield from move_assigned(diagnosis, spot, source)
            yield from move_argument(diagnosis, spot, source)


def _read_above(diagnosis: Diagnosis, spot: FixSite, source: Sources) -> Iterator[Change]:
    """Move the constant where a running function reads it above the running line, to hand it on in something else."""
    file = source.file(spot.place)
    root = file.root_at(spot.place) if file is not None else None
    function = file.function_of(root) if file is not None and root is not None else None
    if file is None or root is None or function is None:
        return
    for name in spot.expressions:
        if not name.isidentifier() or is_local(function, name):
            continue
        above = [node for node in file.find(function, name) if file.line_of(node) < file.line_of(root)]
        reads = [_cast(file, node) for node in above if file.function_of(node) is function]
        for anchor in device_expressions(diagnosis, spot, file) if reads else ():
            if all(is_bound(file, node, anchor) for node in reads):
                edits: dict[cst.CSTNode, cst.CSTNode] = {node: move_to(node, anchor) for node in reads}
                made = change(file, file.replaced(edits), f"Move `{name}` to `{anchor}`, where it is read")
                if made:
                    yield made


def _cast(file: File, node: cst.BaseExpression) -> cst.BaseExpression:
    """The `.to(…)` behind an expression, into which a device can be written; without one, the expression."""
    method = file.parent(node)
    call = file.parent(method) if isinstance(method, cst.Attribute) and method.value is node else None
    return call if isinstance(call, cst.Call) and call.func is method and is_move(call) else node
