"""An object says that it is on one device, and what it holds or computes lies on another."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from devfix.sdk import (
    Change,
    Diagnosis,
    Failure,
    File,
    Finding,
    ScopeVariable,
    Sources,
    assignments,
    blamed_operand,
    change,
    class_of,
    classes_called,
    files_of,
    methods_called,
    misplaced_operands,
    move_to,
    peer_operand,
    return_values,
)

SAYS = ("device", "string", "index")
# Not `output_device`, `offload_device`: those say where something else is.
OWN = re.compile(r"_?(device|dev)(_id|_index)?")
STEPS = re.compile(r"\w+(\.\w+)*")


@dataclass(frozen=True)
class Lie:
    """An object in a frame's scope, what it says of its device, and a module that it holds elsewhere, if any."""

    frame: int
    owner: ScopeVariable
    declared: ScopeVariable
    held: ScopeVariable | None

    @property
    def attribute(self) -> str:
        """What is said, as the object's own methods write it: `self.config.device`."""
        return f"self{self.declared.expression.removeprefix(self.owner.expression)}"


def diagnose(failure: Failure) -> Finding | None:
    """Report what comes from an object that lies elsewhere than the object's `device` says."""
    for index, operand, other in misplaced_operands(failure):
        found = next(iter(_lies(failure, operand.device, other.device)), None)
        if found is None:
            continue
        held = found.held
        where = f"`{held.expression}` lies on {held.device}" if held else f"its results may lie on {operand.device}"
        reason = (
            f"`{found.declared.expression}` says {found.declared.device}, but {where}: what is"
            f" made as declared meets what is computed elsewhere."
        )
        # What an object leaves on the host may well belong there.
        return Finding(index, reason, strength=1 if held or operand.device != "cpu" else 4, device=other.device)
    return None


def _lies(failure: Failure, device: str, said: str) -> list[Lie]:
    """The objects that say they are on a device and may have made what is on another, those seen to hold some first."""
    found = []
    for number in reversed(range(len(failure.frames))):
        scope = {each.expression: each for each in failure.frames[number].scope}
        for declared in scope.values():
            whole, _, name = declared.expression.rpartition(".")
            if declared.kind not in SAYS or declared.device != said or not OWN.fullmatch(name):
                continue
            # What an object's configuration says, the object says.
            for owner in (scope.get(whole), scope.get(whole.rpartition(".")[0])):
                if owner is not None and owner.kind in ("object", "module") and STEPS.fullmatch(owner.expression):
                    inside = [each for each in scope.values() if each.expression.startswith(f"{owner.expression}.")]
                    if not _is_true(inside, device, said):
                        held = (each for each in inside if each.kind == "module" and each.device == device)
                        found.append(Lie(number, owner, declared, next(held, None)))
    return sorted(found, key=lambda lie: lie.held is None)


def _is_true(inside: list[ScopeVariable], device: str, said: str) -> bool:
    """Whether an object that says one device is there at least in part, or names the other one as well."""
    modules = {each.device for each in inside if each.kind == "module"}
    return bool(modules & {said, "mixed"}) or any(each.kind in SAYS and each.device == device for each in inside)


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Make the declaration true where the object is made: load there; else return results where it says."""
    other = peer_operand(diagnosis)
    found = _lies(diagnosis.failure, blamed_operand(diagnosis).device, other.device) if other is not None else []
    for lie in found:
        for file, holder in _classes(diagnosis.failure, lie, source):
            if lie.held is not None:
                yield from _loaded(file, holder, lie)
    for lie in found:
        for file, holder in _classes(diagnosis.failure, lie, source):
            for method, part in _asked(diagnosis, lie, file, holder, source):
                yield from _moved(file, return_values(file, method, part), lie)
            if lie.held is not None:
                for method in [each for each in file.within(holder) if isinstance(each, cst.FunctionDef)]:
                    yield from _moved(file, _computed(file, method, lie), lie)


def _classes(failure: Failure, lie: Lie, source: Sources) -> list[tuple[File, cst.ClassDef]]:
    known = class_of(lie.owner, source)
    if known is not None:
        return [known]
    return [(file, node) for file in files_of(failure, source) for node in classes_called(file, lie.owner.type)]


def _loaded(file: File, holder: cst.ClassDef, lie: Lie) -> Iterator[Change]:
    """What the object keeps, moved to where the object says when it is assigned; or the declaration made of it."""
    assert lie.held is not None
    held = f"self{lie.held.expression.removeprefix(lie.owner.expression)}"
    every = assignments(file, held, holder)
    for each in every:
        if each.value is not None:
            yield from _moved(file, [each.value], lie, f"Move `{held}` to where `{lie.attribute}` says")
    for each in assignments(file, lie.attribute, holder):
        function = file.function_of(each)
        earlier = [file.line_of(one) for one in every if file.function_of(one) is function]
        if each.value is not None and earlier and min(earlier) < file.line_of(each):
            true = cst.parse_expression(f"next({held}.parameters()).device")
            made = change(file, file.replaced({each.value: true}), f"Say where `{held}` is", "likely")
            if made:
                yield made


def _moved(file: File, values: list[cst.BaseExpression], lie: Lie, title: str = "") -> Iterator[Change]:
    edits: dict[cst.CSTNode, cst.CSTNode] = {each: move_to(each, lie.attribute) for each in values}
    safety = "safe" if title else "likely"
    title = title or f"Return results where `{lie.attribute}` says"
    made = change(file, file.replaced(edits), title, safety) if edits else None
    if made:
        yield made


def _asked(
    diagnosis: Diagnosis, lie: Lie, file: File, holder: cst.ClassDef, source: Sources
) -> Iterator[tuple[cst.FunctionDef, int | str | None]]:
    """The methods of the object that its frame has called, and the part of what they return that lies elsewhere."""
    frame = diagnosis.failure.frames[lie.frame]
    caller = source.file(frame.place)
    running = caller.root_at(frame.place) if caller is not None else None
    if caller is None or running is None:
        return
    function, statement = caller.function_of(running), caller.statement_of(running)
    astray = [
        each.expression
        for each in frame.scope
        if each.kind == "tensor" and each.device == blamed_operand(diagnosis).device
    ]
    for call in caller.within(function or caller.module):
        if not isinstance(call, cst.Call) or caller.function_of(call) is not function or call is running:
            continue
        called = caller.code(call.func)
        method = called.removeprefix(lie.owner.expression)
        if not called.startswith(lie.owner.expression) or not re.fullmatch(r"(\.\w+)?", method):
            continue
        given = caller.parent(call)
        targets = [given.targets[0].target] if isinstance(given, cst.Assign) else []
        parts = [part for target in targets for part in _parts(caller, target, astray)]
        if not targets and statement is not None and statement in caller.ancestors(call):
            parts = [None]
        for part in parts:
            yield from ((each, part) for each in methods_called(file, holder, method.removeprefix(".")))


def _parts(file: File, target: cst.BaseExpression, astray: list[str]) -> Iterator[int | str | None]:
    """Which parts of a target are tensors on the other device."""
    if isinstance(target, cst.Tuple):
        yield from (number for number, element in enumerate(target.elements) if file.code(element.value) in astray)
        return
    text = file.code(target)
    yield from [None] if text in astray else []
    for each in astray:
        part = re.fullmatch(r"\.(\w+)|\[[\"'](\w+)[\"']\]|\[(\d)\]", each.removeprefix(text))
        if part and each.startswith(text):
            yield int(part[3]) if part[3] else part[1] or part[2]


def _computed(file: File, method: cst.FunctionDef, lie: Lie) -> list[cst.BaseExpression]:
    """What a method returns that it got by calling what the object holds."""
    assert lie.held is not None
    first = f"self.{lie.held.expression.removeprefix(lie.owner.expression + '.').split('.')[0]}"
    whole = return_values(file, method)
    every = whole or [element for part in range(4) for element in return_values(file, method, part)]
    found = []
    for value in every:
        before = assignments(file, file.code(value), method) if isinstance(value, cst.Name) else []
        texts = [file.code(value), *(file.code(each.value) for each in before if each.value is not None)]
        if any(re.match(rf"{re.escape(first)}\b.*\(", text) for text in texts):
            found.append(value)
    return found
