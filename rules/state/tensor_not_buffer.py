"""A module keeps a tensor as a plain attribute, which `.to()` does not see."""

from collections.abc import Iterator

import libcst as cst

from devfix.sdk import (
    Change,
    Diagnosis,
    Failure,
    File,
    Finding,
    Operand,
    Sources,
    StoredAttribute,
    assignments,
    blamed_operand,
    change,
    classes_holding,
    dominating,
    fix_sites,
    is_intentional,
    last_name,
    misplaced_operands,
    move_batch,
    register_as_buffer,
    stored_attributes,
)

CONTAINERS = (cst.List, cst.Tuple, cst.Dict, cst.ListComp, cst.DictComp)
# What these make is no tensor, or a Parameter, which is no buffer either.
OTHERS = ("item", "tolist", "numpy", "array", "Parameter")
BUILTINS = ("float", "int", "bool", "str", "len")


def diagnose(failure: Failure) -> Finding | None:
    """Report an attribute of a module that has moved, unless a method other than the constructor made the tensor."""
    for index, operand, peer in misplaced_operands(failure):
        found = _unregistered(failure, operand)
        if found is None or is_intentional(failure, operand):
            continue
        module = found.module.type if found.module is not None else ""
        reason = (
            f"`{found.whole}.{found.attribute}` is a plain attribute of {module}: `.to()` moves parameters and buffers,"
            f" so it stayed on {operand.device} when the module went to {peer.device}."
        )
        return Finding(index, reason, strength=1 if _is_of_constructor(found) else 2)
    return None


def _unregistered(failure: Failure, operand: Operand) -> StoredAttribute | None:
    if operand.owner is not None and operand.owner.kind != "attribute":
        return None
    for each in stored_attributes(failure, operand):
        # A module that lies where the tensor does was never moved itself, or holds it as a buffer.
        if each.module is None or each.module.device in (operand.device, "mixed"):
            continue
        if not _is_of_constructor(each) and _is_computed_here(failure, each):
            continue
        return each
    return None


def _is_of_constructor(found: StoredAttribute) -> bool:
    """Whether no other method than the constructor made the tensor."""
    place = found.maker.owned_place if found.maker is not None else None
    method = place.function.rpartition(".") if place is not None else ("", "", "")
    if found.module is None or method[0] != found.module.type or found.maker is None:
        return True
    return any(each.function == f"{found.module.type}.__init__" for each in found.maker.places)


def _is_computed_here(failure: Failure, found: StoredAttribute) -> bool:
    """Whether the method that uses the tensor had it made: a cache, which no move before the first use reaches."""
    running = failure.frames[found.frame].place
    places = found.maker.places if found.maker is not None else ()
    return any((each.path, each.function) == (running.path, running.function) for each in places)


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Register the attribute as a buffer where the constructor assigns it, out of the state dict as it was.

    A container of tensors is no buffer: what it holds is moved in front of its uses. Nor may anything assign a number
    to the attribute, which a buffer refuses.
    """
    found = _unregistered(diagnosis.failure, blamed_operand(diagnosis))
    if found is None or found.module is None:
        return
    name = found.attribute
    holders = classes_holding(diagnosis.failure, source, name, found.module.type)
    if _is_given_another_kind(source, name, {holder.name.value for _, holder in holders}):
        return
    for file, holder in holders:
        inside = [each for each in assignments(file, f"self.{name}", holder) if _in_constructor(file, each)]
        edits: dict[cst.CSTNode, cst.CSTNode] = {}
        if any(isinstance(each.value, CONTAINERS) for each in inside):
            for spot in fix_sites(diagnosis):
                yield from move_batch(diagnosis, spot, source)
            continue
        for each in dominating(file, inside):
            call = register_as_buffer(file, each)
            if call is None or _may_be_a_number(file, each):
                edits.clear()
                break
            edits[each] = cst.Expr(call)
        made = change(file, file.replaced(edits), f"Register `self.{name}` as a buffer") if edits else None
        if made:
            yield made


def _is_given_another_kind(source: Sources, name: str, holders: set[str]) -> bool:
    """Whether some file of the repository assigns to an attribute of that name what a buffer refuses.

    What the methods of other classes assign to their own attribute of that name says nothing.
    """
    for file in source.containing(f".{name} =", f".{name}: "):
        for node in file.within(file.module):
            if not isinstance(node, cst.Assign | cst.AnnAssign) or not _is_another_kind(node.value):
                continue
            owners = {file.code(each.value) for each in _targets(node) if each.attr.value == name}
            around = file.class_of(node)
            if owners - {"self"} or (owners and around is not None and around.name.value in holders):
                return True
    return False


def _targets(statement: cst.Assign | cst.AnnAssign) -> list[cst.Attribute]:
    """The attributes that a statement assigns."""
    targets = [each.target for each in statement.targets] if isinstance(statement, cst.Assign) else [statement.target]
    return [each for each in targets if isinstance(each, cst.Attribute)]


def _is_another_kind(value: cst.BaseExpression | None) -> bool:
    """Whether a value is neither a tensor nor None: a number, a text, a module's parameter."""
    if isinstance(value, cst.UnaryOperation):
        value = value.expression
    called = last_name(value.func) if isinstance(value, cst.Call) else ""
    if called in BUILTINS:  # a method of that name casts a tensor
        return isinstance(value, cst.Call) and isinstance(value.func, cst.Name)
    is_truth = isinstance(value, cst.Name) and value.value in ("True", "False")
    return is_truth or isinstance(value, cst.BaseNumber | cst.BaseString) or called in OTHERS


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
    """Whether a node is in a constructor, or in a method that the constructor of the class calls."""
    function, holder = file.function_of(node), file.class_of(node)
    if function is None or holder is None or function.name.value == "__init__":
        return function is not None and function.name.value == "__init__"
    calls = file.find(holder, f"self.{function.name.value}")
    around = [file.function_of(each) for each in calls]
    return any(each is not None and each.name.value == "__init__" for each in around)
