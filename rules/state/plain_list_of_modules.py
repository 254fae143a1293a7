"""Layers are kept in a Python list or dictionary, which a module does not look into."""

from collections.abc import Iterator

import libcst as cst

from devfix.sdk import (
    Binding,
    Blame,
    Change,
    Diagnosis,
    Failure,
    File,
    Operand,
    Sources,
    assignments,
    blamed,
    change,
    classes_holding,
    expression,
    imported_name,
    is_meant,
    last_name,
    roots,
    strangers,
)


def diagnose(failure: Failure) -> Blame | None:
    """Blame a parameter whose module lies in a list of a module that was moved, with all that it registers."""
    for index, operand, peer in strangers(failure):
        found = _unregistered(failure, operand, peer.device)
        if found is not None and not is_meant(failure, operand):
            whole, attribute = found
            because = (
                f"`{whole.expression}.{attribute}` is a plain container: {whole.type} neither moves nor trains what"
                f" lies in it, so it stayed on {operand.device}."
            )
            return Blame(index, because, strength=1)
    return None


def _unregistered(failure: Failure, operand: Operand, device: str) -> tuple[Binding, str] | None:
    """The module, and its attribute, in which a module with such parameters lies unregistered; None without one."""
    held = [owner.type for owner, _ in roots(failure, operand)]
    for frame in reversed(failure.owned_frames) if held else ():
        modules = {each.expression: each for each in frame.scope if each.kind == "module"}
        for each in modules.values():
            whole, bracket, _ = each.expression.partition("[")
            name, _, attribute = whole.rpartition(".")
            holder = modules.get(name)
            inside = bracket and holder is not None and holder.device == device and each.device == operand.device
            if inside and holder is not None and "." not in attribute:
                return holder, attribute
    return None


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Make the list a ModuleList, the dictionary a ModuleDict, where the constructor assigns it."""
    failure, operand = diagnosis.failure, blamed(diagnosis)
    devices = {each.device for each in failure.operands} - {operand.device}
    found = next((known for device in sorted(devices) if (known := _unregistered(failure, operand, device))), None)
    if found is None:
        return
    whole, attribute = found
    for file, holder in classes_holding(failure, source, attribute, whole.type):
        edits: dict[cst.CSTNode, cst.CSTNode] = {}
        for each in assignments(file, f"self.{attribute}", holder):
            wrapped = _wrapped(file, each.value) if each.value is not None else None
            if wrapped is not None and each.value is not None:
                edits[each.value] = wrapped
        made = (
            change(file, file.replaced(edits), f"Register what `self.{attribute}` holds", "likely") if edits else None
        )
        if made:
            yield made


def _wrapped(file: File, value: cst.BaseExpression) -> cst.Call | None:
    if isinstance(value, cst.List | cst.Tuple) and _hides(value):
        return None
    called = last_name(value.func) if isinstance(value, cst.Call) else ""
    if isinstance(value, cst.Dict | cst.DictComp) or called in ("dict", "OrderedDict"):
        name = "ModuleDict"
    elif isinstance(value, cst.List | cst.ListComp | cst.Tuple) or called in ("list", "tuple"):
        name = "ModuleList"
    else:
        return None
    written = imported_name(file, f"torch.nn.{name}")
    call = expression(f"{written}()") if written else None
    if not isinstance(call, cst.Call):
        return None
    empty = isinstance(value, cst.List | cst.Dict) and not value.elements
    if isinstance(value, cst.Call) and name == "ModuleList":
        return call.with_changes(args=value.args)  # it makes a list of what `list` or `tuple` would have
    return call if empty else call.with_changes(args=[cst.Arg(value)])


def _hides(value: cst.List | cst.Tuple) -> bool:
    """Whether a list does what people use it for to keep a module out of `parameters()`: `self.teacher = [teacher]`."""
    return len(value.elements) == 1 and isinstance(value.elements[0].value, cst.Name)
