"""`torch.tensor` of a list of tensors copies each to the host and makes a tensor there."""

from collections.abc import Iterator

import libcst as cst

from devfix.sdk import (
    Change,
    Diagnosis,
    Failure,
    Finding,
    SourceLocation,
    Sources,
    add_device_argument,
    blamed_operand,
    change,
    creation_location,
    describe,
    fix_sites,
    is_intentional,
    last_name,
    misplaced_operands,
    scope_at,
)

NUMBERS = ("float", "int", "len", "bool", "ord", "item", "tolist")


def diagnose(failure: Failure) -> Finding | None:
    """Report a constant made where a list of tensors without dimensions on the right device was in scope."""
    for index, operand, peer in misplaced_operands(failure):
        birth, place = operand.creation, creation_location(operand)
        if birth is None or place is None or birth.kind != "constant" or is_intentional(failure, operand):
            continue
        if not _listed(failure, place, peer.device) and not _has_tensors(failure, place, peer.device):
            continue
        reason = (
            f"{describe(operand)} was made by `{birth.op}` in {place.path}:{place.line} on the host: tensors on"
            f" {peer.device} that it takes are copied there one by one."
        )
        return Finding(index, reason, strength=1)
    return None


def _listed(failure: Failure, place: SourceLocation, device: str) -> list[str]:
    """The lists in scope at a place whose elements are tensors without dimensions on a device."""
    found = []
    for binding in scope_at(failure, place):
        name, _, rest = binding.expression.partition("[")
        if rest == "0]" and binding.kind == "tensor" and binding.shape == () and binding.device == device:
            found.append(name)
    return found


def _has_tensors(failure: Failure, place: SourceLocation, device: str) -> bool:
    """Whether tensors on a device were in scope at a place, of which a comprehension may make scalars."""
    return any(each.kind == "tensor" and each.device == device for each in scope_at(failure, place))


def _is_computed(call: cst.Call | None) -> bool:
    """Whether a call takes a comprehension that computes each element, and makes no Python number of it."""
    given = call.args[0].value if call is not None and call.args else None
    element = given.elt if isinstance(given, cst.ListComp) else None
    if isinstance(element, cst.Call):
        return last_name(element.func) not in NUMBERS
    return isinstance(element, cst.BinaryOperation | cst.Subscript)


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Stack the tensors where they are; else give the new tensor their device."""
    failure, operand = diagnosis.failure, blamed_operand(diagnosis)
    devices = {each.device for each in failure.operands} - {operand.device}
    for spot in fix_sites(diagnosis):
        file = source.file(spot.place)
        if spot.kind != "birth" or file is None or operand.creation is None or spot.place != operand.creation.places[0]:
            continue
        listed = {name for device in devices for name in _listed(failure, spot.place, device)}
        call = file.call_at(spot.place, ("tensor", "as_tensor"))
        name = file.code(call.args[0].value) if call is not None and len(call.args) == 1 else ""
        is_computed = bool(name) and name not in listed and _is_computed(call)
        if call is not None and isinstance(call.func, cst.Attribute) and (name in listed or is_computed):
            stacked = call.with_changes(func=call.func.with_changes(attr=cst.Name("stack")))
            title = f"Stack {'what the comprehension makes' if is_computed else f'`{name}`'} where its tensors are"
            found = change(file, file.replaced({call: stacked}), title, "likely")
            if found:
                yield found
        if name in listed:
            yield from add_device_argument(diagnosis, spot, source)
