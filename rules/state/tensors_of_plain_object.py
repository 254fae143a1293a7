"""An object that is no module keeps its tensors where its constructor made them."""

from collections.abc import Iterator
from dataclasses import replace

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
    StoredAttribute,
    blamed_operand,
    change,
    describe,
    device_expressions,
    frame_of,
    insert_after,
    is_intentional,
    misplaced_operands,
    scope_at,
    stored_attributes,
)

MOST = 6  # attributes moved by one change; an object with more wants a method of its own
MOVERS = ("to", "cuda", "_apply")


def diagnose(failure: Failure) -> Finding | None:
    """Report an attribute of a plain object that its constructor made, and that nobody moved."""
    for index, operand, peer in misplaced_operands(failure):
        found = _kept(failure, operand)
        if found is None or is_intentional(failure, operand):
            continue
        reason = (
            f"{describe(operand)} belongs to an object that is no module, which no `.to()` reaches: it stayed on"
            f" {operand.device}, where the constructor made it, and meets a tensor on {peer.device}."
        )
        return Finding(index, reason, strength=2)
    return None


def _kept(failure: Failure, operand: Operand) -> StoredAttribute | None:
    if operand.owner is not None:
        return None
    for each in stored_attributes(failure, operand):
        place = each.maker.places[0] if each.maker is not None and each.maker.places else None
        if each.module is None and place is not None and place.owned and place.function.endswith(".__init__"):
            return each
    return None


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Move all tensors of the object that its methods use, where it is constructed: once, for all methods."""
    found = _kept(diagnosis.failure, blamed_operand(diagnosis))
    if found is None or found.maker is None:
        return
    inside = source.file(found.maker.places[0])
    names = _used(diagnosis.failure, found, inside) if inside is not None else []
    place = next((each for each in found.maker.places if not each.function.endswith("__init__")), None)
    file = source.file(place) if place is not None else None
    if place is None or file is None or not names or _is_under_way(diagnosis.failure, place):
        return
    statement, target = _assigned(file, place)
    if statement is None:
        return
    for anchor in device_expressions(diagnosis, FixSite("returned", place, scope_at(diagnosis.failure, place)), file):
        if anchor.startswith(f"{target}."):
            continue
        lines = [f"{target}.{name} = {target}.{name}.to({anchor})" for name in names]
        told = ", ".join(f"`{name}`" for name in names)
        made = change(file, insert_after(file, statement, lines), f"Move {told} of `{target}` to `{anchor}`", "likely")
        if made:
            yield replace(made, joint=len(names) > 1)


def _used(failure: Failure, found: StoredAttribute, file: File) -> list[str]:
    """The object's tensors on the wrong device that its methods read; none where a single method uses them."""
    place = found.maker.places[0] if found.maker is not None else None
    node = file.root_at(place) if place is not None else None
    holder = file.class_of(node) if node is not None else None
    if holder is None or any(name in MOVERS for name in _methods(file, holder)):
        return []
    device = next((each.device for each in failure.frames[found.frame].scope if each.expression == _whole(found)), "")
    names, functions = [], set()
    for each in failure.frames[found.frame].scope:
        whole, _, name = each.expression.rpartition(".")
        if each.kind != "tensor" or each.device != device or whole != found.whole or not name.isidentifier():
            continue
        readers = {file.function_of(read) for read in file.find(holder, f"self.{name}")}
        readers = {reader for reader in readers if reader is not None and reader.name.value != "__init__"}
        if readers:
            names.append(name)
            functions |= readers
    return names if len(functions) > 1 and len(names) <= MOST else []


def _whole(found: StoredAttribute) -> str:
    return f"{found.whole}.{found.attribute}"


def _methods(file: File, holder: cst.ClassDef) -> list[str]:
    return [each.name.value for each in file.within(holder) if isinstance(each, cst.FunctionDef)]


def _assigned(file: File, place: SourceLocation) -> tuple[cst.CSTNode | None, str]:
    """The statement that gives the constructed object to one name or attribute, and which."""
    call = file.call_at(place)
    given = file.parent(call) if call is not None else None
    if not isinstance(given, cst.Assign) or len(given.targets) != 1:
        return None, ""
    target = given.targets[0].target
    statement = file.statement_of(given)
    return (statement, file.code(target)) if isinstance(target, cst.Name | cst.Attribute) else (None, "")


def _is_under_way(failure: Failure, place: SourceLocation) -> bool:
    """Whether the call at a place still runs, so that what it constructs is not there yet."""
    frame = frame_of(failure, place)
    return frame is not None and failure.frames[frame].place == place
