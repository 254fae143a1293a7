"""A module keeps a tensor as a plain attribute, which `.to()` does not see."""

from collections.abc import Iterator

import libcst as cst

from devfix.sdk import (
    Blame,
    Change,
    Diagnosis,
    Failure,
    File,
    Kept,
    Operand,
    Sources,
    assignments,
    blamed,
    change,
    classes_holding,
    dominating,
    is_meant,
    kept,
    registered_as_buffer,
    strangers,
)


def diagnose(failure: Failure) -> Blame | None:
    """Blame an attribute of a module that has moved, unless a method other than the constructor made the tensor."""
    for index, operand, peer in strangers(failure):
        found = _unregistered(failure, operand)
        if found is None or is_meant(failure, operand):
            continue
        module = found.module.type if found.module is not None else ""
        because = (
            f"`{found.whole}.{found.attribute}` is a plain attribute of {module}: `.to()` moves parameters and buffers,"
            f" so it stayed on {operand.device} when the module went to {peer.device}."
        )
        return Blame(index, because, strength=1)
    return None


def _unregistered(failure: Failure, operand: Operand) -> Kept | None:
    if operand.owner is not None and operand.owner.kind != "attribute":
        return None
    for each in kept(failure, operand):
        # A module that lies where the tensor does was never moved itself, or holds it as a buffer.
        if each.module is None or each.module.device in (operand.device, "mixed"):
            continue
        place = each.maker.owned_place if each.maker is not None else None
        method = place.function.rpartition(".") if place is not None else ("", "", "")
        if method[0] == each.module.type and method[2] != "__init__":
            continue
        return each
    return None


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Register the attribute as a buffer where the constructor assigns it, out of the state dict as it was."""
    found = _unregistered(diagnosis.failure, blamed(diagnosis))
    if found is None or found.module is None:
        return
    name = found.attribute
    for file, holder in classes_holding(diagnosis.failure, source, name, found.module.type):
        inside = [each for each in assignments(file, f"self.{name}", holder) if _in_constructor(file, each)]
        edits: dict[cst.CSTNode, cst.CSTNode] = {}
        for each in dominating(file, inside):
            call = registered_as_buffer(file, each)
            if call is None or _may_be_a_number(file, each):
                edits.clear()
                break
            edits[each] = cst.Expr(call)
        made = change(file, file.replaced(edits), f"Register `self.{name}` as a buffer") if edits else None
        if made:
            yield made


def _may_be_a_number(file: File, assignment: cst.Assign | cst.AnnAssign) -> bool:
    """Whether the value is a parameter that says nothing of tensors and has a default: a buffer takes no number."""
    function, value = file.function_of(assignment), assignment.value
    if function is None or not isinstance(value, cst.Name):
        return False
    for each in (*function.params.params, *function.params.kwonly_params):
        if each.name.value == value.value and each.default is not None:
            return each.annotation is None or "Tensor" not in file.code(each.annotation.annotation)
    return False


def _in_constructor(file: File, node: cst.CSTNode) -> bool:
    function = file.function_of(node)
    return function is not None and function.name.value == "__init__"
