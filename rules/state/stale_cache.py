"""A table is computed once and kept, and stays on the device of its first use."""

from collections.abc import Iterator

import libcst as cst

from devfix.sdk import (
    Change,
    Diagnosis,
    Failure,
    File,
    Finding,
    Operand,
    SourceLocation,
    Sources,
    argument,
    assignments,
    binding_at,
    blamed_operand,
    change,
    code,
    definition,
    expression,
    misplaced_operands,
    stored_attributes,
)

SUPERSEDES = ("state/tensor-not-buffer",)  # what is computed anew for each input is no state of the module


def diagnose(failure: Failure) -> Finding | None:
    """Report an attribute that a method other than the constructor computed, on another device than it is used on."""
    for index, operand, peer in misplaced_operands(failure):
        name, place = _cached(failure, operand)
        held = operand.owner is not None and operand.owner.kind in ("parameter", "buffer")
        if place is None or held:
            continue
        reason = (
            f"`{name}` was computed once, on {operand.device}, in {place.path}:{place.line}, and is kept: it is used on"
            f" {peer.device} now."
        )
        return Finding(index, reason, strength=1)
    return None


def _cached(failure: Failure, operand: Operand) -> tuple[str, SourceLocation | None]:
    """The attribute that keeps the operand (or what it was computed from), and where a method computed it."""
    for each in stored_attributes(failure, operand):
        place = each.maker.places[0] if each.maker is not None and each.maker.places else None
        method = place.function.rpartition(".")[2] if place is not None and place.owned else "__init__"
        if place is not None and "." in place.function and method != "__init__":
            return f"{each.whole}.{each.attribute}", place
    return "", None


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Compute it anew where the guard that decides so meets another device."""
    name, place = _cached(diagnosis.failure, blamed_operand(diagnosis))
    file = source.file(place) if place is not None else None
    method = definition(file, place.function) if file is not None and place is not None else None
    if file is None or not isinstance(method, cst.FunctionDef):
        return
    attribute = f"self.{name.rpartition('.')[2]}"
    for each in assignments(file, attribute, method):
        guard = next((around for around in file.ancestors(each) if isinstance(around, cst.If)), None)
        given = _given(file, guard) if guard is not None else ""
        if guard is None or not given or not file.find(guard.test, attribute):
            continue
        if place is None or _is_name(diagnosis.failure, place, given):
            continue
        left = guard.test
        if isinstance(left, cst.BooleanOperation) and isinstance(left.operator, cst.And):
            left = left.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
        test = cst.BooleanOperation(left, cst.Or(), expression(f"{attribute}.device != {given}"))
        found = change(file, file.replaced({guard.test: test}), f"Compute `{attribute}` anew for another device")
        if found:
            yield found


def _is_name(failure: Failure, place: SourceLocation, given: str) -> bool:
    """Whether a device is given as a string: no tensor's device equals "cuda", so a guard would never be content."""
    binding = binding_at(failure, place, given)
    return given[0] in "\"'" or (binding is not None and binding.kind == "string")


def _given(file: File, guard: cst.If) -> str:
    """The device that the factories below a guard are given; "" where they are given none."""
    for node in file.within(guard.body):
        given = argument(node, "device") if isinstance(node, cst.Call) else None
        if given is not None:
            return code(given.value)
    return ""
