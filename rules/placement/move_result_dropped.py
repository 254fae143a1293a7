"""`tensor.to(device)` stands alone: it returns the moved tensor and leaves the old one where it is."""

from collections.abc import Iterator

import libcst as cst

from devfix.sdk import Blame, Change, Diagnosis, Failure, Sources, blamed, change, describe, is_move, strangers


def diagnose(failure: Failure) -> Blame | None:
    """Blame an operand of which a copy was made on the right device, while the operand itself was used on."""
    for index, operand, peer in strangers(failure):
        copy = operand.copy
        place = copy.owned_place if copy is not None else None
        if copy is None or place is None or copy.device != peer.device:
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
    target = call.func.value if isinstance(call.func, cst.Attribute) else None
    if isinstance(target, cst.Name | cst.Attribute | cst.Subscript):
        kept = cst.Assign(targets=[cst.AssignTarget(target)], value=call)
        found = change(file, file.replaced({statement: kept}), f"Keep the result of `{file.code(call)}`")
        if found:
            yield found
