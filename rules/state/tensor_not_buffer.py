"""A module keeps a tensor as a plain attribute, which `.to()` does not see."""

from collections.abc import Iterator

import libcst as cst

from devfix.sdk import (
    Blame,
    Change,
    Diagnosis,
    Failure,
    File,
    Sources,
    assignments,
    attribute_of,
    blamed,
    change,
    classes_holding,
    device_in,
    dominating,
    maker,
    registered_as_buffer,
    strangers,
)


def diagnose(failure: Failure) -> Blame | None:
    """Blame an attribute of a module that has moved, unless a method other than the constructor made the tensor."""
    for index, operand, peer in strangers(failure):
        owner = operand.owner
        if owner is None or owner.kind != "attribute":
            continue
        made = maker(operand)
        place = made.owned_place if made else None
        if place is not None and place.function.startswith(f"{owner.type}.") and "__init__" not in place.function:
            continue
        if device_in(failure, owner.frame, owner.expression) == operand.device:
            continue
        because = (
            f"`{owner.expression}.{owner.attribute}` is a plain attribute of {owner.type}: `.to()` moves parameters and"
            f" buffers, so it stayed on {operand.device} when the module went to {peer.device}."
        )
        return Blame(index, because, strength=1)
    return None


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Register the attribute as a buffer where the constructor assigns it, out of the state dict as it was."""
    operand = blamed(diagnosis)
    name = attribute_of(operand)
    if operand.owner is None or operand.owner.attribute != name:
        return
    for file, holder in classes_holding(diagnosis.failure, source, name, operand.owner.type):
        inside = [each for each in assignments(file, f"self.{name}", holder) if _in_constructor(file, each)]
        edits: dict[cst.CSTNode, cst.CSTNode] = {}
        for each in dominating(file, inside):
            call = registered_as_buffer(file, each)
            if call is not None:
                edits[each] = cst.Expr(call)
        found = change(file, file.replaced(edits), f"Register `self.{name}` as a buffer") if edits else None
        if found:
            yield found


def _in_constructor(file: File, node: cst.CSTNode) -> bool:
    function = file.function_of(node)
    return function is not None and function.name.value == "__init__"
