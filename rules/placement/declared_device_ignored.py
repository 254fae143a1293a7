"""An object declares one device, and what it holds or computes is on another."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from devfix.sdk import (
    Changes,
    Confidence,
    Context,
    File,
    OperandRule,
    Safety,
    ScopeVariable,
    assigned_values,
    assignments,
    class_of,
    classes_called,
    expression,
    methods_called,
    move_to,
    return_values,
    rewrite,
)

DEVICE_KINDS = ("device", "string", "index")
# Not `output_device`, `offload_device`: those are the devices of something else.
OWN = re.compile(r"_?(device|dev)(_id|_index)?")
PARTS = 4  # of a tuple that a method returns, at most


@dataclass(frozen=True)
class Declaration:
    """An object in a frame's scope, its declared device, and a module that it holds elsewhere, if any."""

    frame: int
    owner: ScopeVariable
    declared: ScopeVariable
    held: ScopeVariable | None

    def own(self, variable: ScopeVariable) -> str:
        """Return an attribute of the object as its own methods write it: `self.config.device`."""
        return f"self{variable.expression.removeprefix(self.owner.expression)}"


class DeclaredDeviceIgnored(OperandRule):
    """Makes the declaration true where the object is created, or returns results on the declared device."""

    reports_intentional = True

    def explain(self, ctx: Context) -> str:
        """Report results of an object that is on another device than its `device` says."""
        for found in _declarations(ctx)[:1]:
            held = f"`{found.held.expression}` is on {found.held.device}" if found.held else ""
            return (
                f"`{found.declared.expression}` says {found.declared.device}, but"
                f" {held or f'its results may be on {ctx.operand.device}'}: what is made as declared meets what is"
                " computed elsewhere."
            )
        return ""

    def rate(self, ctx: Context) -> Confidence:
        """Return a lower confidence for what an object leaves on the host, which may be intended."""
        is_seen = ctx.operand.device != "cpu" or any(each.held for each in _declarations(ctx)[:1])
        return Confidence.DIRECT if is_seen else Confidence.REMOTE

    def propose(self, ctx: Context) -> Changes:
        """Change what the object stores; then what its methods return to the frame, and what they compute with it."""
        found = [(each, *place) for each in _declarations(ctx) for place in _classes(ctx, each)]
        for said, file, holder in found:
            yield from _keep_there(said, file, holder)
        for said, file, holder in found:
            for called, part in _results(ctx, said):
                for method in methods_called(file, holder, called):
                    yield from _move(file, return_values(file, method, part), said)
            methods = [*file.within(holder, cst.FunctionDef)]
            for method in methods if said.held is not None else ():
                yield from _move(file, _find_computed(file, method, said), said)


def _declarations(ctx: Context) -> list[Declaration]:
    """Return the objects that claim to be on the peer's device and are not; holders of a misplaced module first."""
    found = []
    for number in reversed(range(len(ctx.failure.frames))):
        scope = {each.expression: each for each in ctx.failure.frames[number].scope}
        for declared in scope.values():
            whole, _, name = declared.expression.rpartition(".")
            if declared.kind not in DEVICE_KINDS or declared.device != ctx.peer.device or not OWN.fullmatch(name):
                continue
            # The configuration of an object counts as the object's own declaration.
            for owner in (scope.get(whole), scope.get(whole.rpartition(".")[0])):
                if owner is not None and owner.kind in ("object", "module") and "[" not in owner.expression:
                    inside = [each for each in scope.values() if each.expression.startswith(f"{owner.expression}.")]
                    if not _is_true(ctx, inside):
                        held = (each for each in inside if each.kind == "module")
                        wrong = next((each for each in held if each.device == ctx.operand.device), None)
                        found.append(Declaration(number, owner, declared, wrong))
    return sorted(found, key=lambda each: each.held is None)


def _is_true(ctx: Context, inside: list[ScopeVariable]) -> bool:
    """Return whether an object is at least partly on its declared device, or names the other one as well."""
    modules = {each.device for each in inside if each.kind == "module"}
    both = any(each.kind in DEVICE_KINDS and each.device == ctx.operand.device for each in inside)
    return both or bool(modules & {ctx.peer.device, "mixed"})


def _classes(ctx: Context, said: Declaration) -> list[tuple[File, cst.ClassDef]]:
    known = class_of(said.owner, ctx.sources)
    every = ((file, node) for file in ctx.files() for node in classes_called(file, said.owner.type))
    return [known] if known is not None else list(every)


def _keep_there(said: Declaration, file: File, holder: cst.ClassDef) -> Changes:
    """Yield changes that move what the object stores to the declared device, or correct the declaration."""
    if said.held is None:
        return
    held, attribute = said.own(said.held), said.own(said.declared)
    kept = assignments(file, held, holder)
    for each in kept:
        if each.value is not None:
            yield from _move(file, [each.value], said, f"Move `{held}` to where `{attribute}` says", Safety.SAFE)
    for each in assignments(file, attribute, holder):
        function = file.function_of(each)
        earlier = [one for one in kept if file.function_of(one) is function and file.line_of(one) < file.line_of(each)]
        if each.value is not None and earlier:
            true = expression(f"next({held}.parameters()).device")
            yield from rewrite(file, {each.value: true}, f"Say where `{held}` is", Safety.LIKELY)


def _move(
    file: File, values: list[cst.BaseExpression], said: Declaration, title: str = "", safety: Safety = Safety.LIKELY
) -> Changes:
    attribute = said.own(said.declared)
    title = title or f"Return results where `{attribute}` says"
    return rewrite(file, {each: move_to(each, attribute) for each in values}, title, safety)


def _results(ctx: Context, said: Declaration) -> Iterator[tuple[str, int | str | None]]:
    """Yield the methods of the object that its frame called, and the part of their results that is elsewhere."""
    site = ctx.site_of(said.frame)
    if site is None:
        return
    file, function = site.file, site.function
    tensors = (each for each in site.scope if each.kind == "tensor" and each.device == ctx.operand.device)
    misplaced = [each.expression for each in tensors]
    for call in file.own_nodes(function or file.module, cst.Call):
        called = re.fullmatch(rf"{re.escape(said.owner.expression)}(?:\.(\w+))?", file.code(call.func))
        if called is None or call is site.node:
            continue
        method, given = called[1] or "", file.parent(call)
        if isinstance(given, cst.Assign):
            yield from ((method, part) for part in _parts(file, given.targets[0].target, misplaced))
        elif site.statement is not None and site.statement in file.ancestors(call):
            yield method, None


def _parts(file: File, target: cst.BaseExpression, misplaced: list[str]) -> Iterator[int | str | None]:
    """Yield the parts of a target that are tensors on the other device: by index, by name, or None for all of it."""
    if isinstance(target, cst.Tuple):
        yield from (number for number, element in enumerate(target.elements) if file.code(element.value) in misplaced)
        return
    text = file.code(target)
    yield from [None] if text in misplaced else []
    for each in misplaced:
        part = re.fullmatch(rf"{re.escape(text)}(?:\.(\w+)|\[[\"'](\w+)[\"']\]|\[(\d)\])", each)
        if part is not None:
            yield int(part[3]) if part[3] else part[1] or part[2]


def _find_computed(file: File, method: cst.FunctionDef, said: Declaration) -> list[cst.BaseExpression]:
    """Return what a method returns that it computed by calling what the object holds."""
    first = ".".join(said.own(said.held).split(".")[:2]) if said.held is not None else ""
    parts = [each for part in range(PARTS) for each in return_values(file, method, part)]
    found = []
    for value in return_values(file, method) or parts:
        before = assigned_values(file, file.code(value), method) if isinstance(value, cst.Name) else []
        texts = [file.code(each) for each in (value, *before)]
        if any(re.match(rf"{re.escape(first)}\b.*\(", text) for text in texts):
            found.append(value)
    return found
