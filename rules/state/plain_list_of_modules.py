"""Layers are kept in a Python list or dictionary, which a module does not look into."""

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
    ScopeVariable,
    Sources,
    assignments,
    blamed_operand,
    change,
    classes_holding,
    fix_sites,
    insert_after,
    is_intentional,
    loads_strictly,
    misplaced_operands,
    module_container,
    modules_of,
    move_module_before,
    occurrences,
    takes_modules,
)


def diagnose(failure: Failure) -> Finding | None:
    """Report a tensor whose module lies in a container of a module that was moved, with all that it registers."""
    for index, operand, peer in misplaced_operands(failure):
        found = _unregistered(failure, operand, peer.device)
        if found is not None and not is_intentional(failure, operand):
            whole, attribute = found
            reason = (
                f"`{whole.expression}.{attribute}` is a plain container: {whole.type} neither moves nor trains what"
                f" lies in it, so it stayed on {operand.device}."
            )
            return Finding(index, reason, strength=1)
    return None


def _unregistered(failure: Failure, operand: Operand, device: str) -> tuple[ScopeVariable, str] | None:
    """The module, and its attribute, in which a module with such tensors lies unregistered; None without one."""
    for frame in reversed(failure.owned_frames) if operand.holders else ():
        modules = {each.expression: each for each in frame.scope if each.kind == "module"}
        for each in modules.values():
            whole, bracket, _ = each.expression.partition("[")
            name, _, attribute = whole.rpartition(".")
            holder = modules.get(name)
            if not bracket or holder is None or holder.device != device or "." in attribute:
                continue
            if _holds(each, operand):
                return holder, attribute
    return None


def _holds(module: ScopeVariable, operand: Operand) -> bool:
    """Whether a module may hold an operand: it lies there, or keeps it as an attribute that its own `.to()` moves."""
    if any(owner.kind in ("parameter", "buffer") for owner in operand.holders):
        return module.device == operand.device
    return module.device in ("", operand.device) and any(owner.type == module.type for owner in operand.holders)


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Register what the container holds where the constructor assigns it, else move each module where it is used.

    Where the repository loads a state dict strictly, parameters that were not in it may not come into it.
    """
    failure, operand = diagnosis.failure, blamed_operand(diagnosis)
    devices = {each.device for each in failure.operands} - {operand.device}
    found = next((known for device in sorted(devices) if (known := _unregistered(failure, operand, device))), None)
    if found is None:
        return
    whole, attribute = found
    saved = any(owner.kind in ("parameter", "buffer") for owner in operand.holders)
    if _is_hidden(failure, source, whole, attribute):
        return
    registered = [] if saved and loads_strictly(source) else list(_registered(failure, source, whole, attribute))
    yield from registered
    reason = "" if registered else "To register it would give a state dict that is loaded strictly other keys."
    for spot in fix_sites(diagnosis):
        for name in _written(operand, spot, source):
            for each in move_module_before(diagnosis, spot, source, name):
                yield replace(each, safety="unsure" if registered else "likely", reason=reason)


def _written(operand: Operand, spot: FixSite, source: Sources) -> Iterator[str]:
    """Yield how the code at a spot writes the module that holds an operand: `layer`, `self.heads[name]`."""
    file = source.file(spot.place)
    root = file.root_at(spot.place) if file is not None else None
    names = {owner.root for owner in operand.holders if owner.frame == spot.frame} - {"self"}
    if file is None or root is None:
        return
    for name in sorted(names):
        # One that the code does not write is an element of a container, of which the others would be left behind.
        yield from dict.fromkeys(file.code(each) for each in occurrences(file, root, name)[:1])


def _is_hidden(failure: Failure, source: Sources, whole: ScopeVariable, attribute: str) -> bool:
    holders = classes_holding(failure, source, attribute, whole.type)
    given = [each.value for file, holder in holders for each in assignments(file, f"self.{attribute}", holder)]
    return any(value is not None and _hides(value) for value in given)


def _registered(failure: Failure, source: Sources, whole: ScopeVariable, attribute: str) -> Iterator[Change]:
    name = f"self.{attribute}"
    for file, holder in classes_holding(failure, source, attribute, whole.type):
        given = [(each, each.value) for each in assignments(file, name, holder) if each.value is not None]
        edits: dict[cst.CSTNode, cst.CSTNode] = {}
        for _, value in given:
            container = module_container(file, value)
            if container is not None:
                edits[value] = container
        title = f"Register what `{name}` holds"
        made = change(file, file.replaced(edits), title, "likely") if edits else None
        if made and takes_modules(file, holder, name):
            yield made
        yield from _beside(file, given, attribute)


def _beside(
    file: File, given: list[tuple[cst.Assign | cst.AnnAssign, cst.BaseExpression]], attribute: str
) -> Iterator[Change]:
    """Yield a ModuleList of the modules beside the container, which stays what it is for all that uses it."""
    statement = file.statement_of(given[0][0]) if len(given) == 1 else None
    listed = modules_of(file, given[0][1], f"self.{attribute}") if statement is not None else ""
    if statement is None or not listed or file.find(file.module, f"self.{attribute}_modules"):
        return
    line = f"self.{attribute}_modules = {listed}  # so that moves and the state dict reach them"
    made = change(
        file, insert_after(file, statement, [line]), f"Register what `self.{attribute}` holds, beside it", "likely"
    )
    if made:
        yield made


def _hides(value: cst.BaseExpression) -> bool:
    """Whether a list does what people use it for to keep a module out of `parameters()`: `self.teacher = [teacher]`."""
    if not isinstance(value, cst.List | cst.Tuple):
        return False
    return len(value.elements) == 1 and isinstance(value.elements[0].value, cst.Name)
