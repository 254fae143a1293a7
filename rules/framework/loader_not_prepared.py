"""A loader was not handed to `accelerator.prepare`, so its batches stay on the host."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import libcst as cst

from devfix.sdk import (
    Change,
    Diagnosis,
    Failure,
    File,
    Finding,
    Operand,
    ScopeVariable,
    Sources,
    blamed_operand,
    change,
    describe,
    expression,
    fix_sites,
    frame_of,
    insert_after,
    is_bound,
    is_of,
    loop_event,
    misplaced_operands,
    move_argument,
    objects_of,
    passed_in,
    scope_at,
)

ACCELERATOR = "accelerate.Accelerator"
LOADER = "torch.DataLoader"
PREPARED = ("accelerate.DataLoaderShard", "accelerate.DataLoaderDispatcher", "accelerate.DataLoaderStateMixin")

COMMA = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))


@dataclass(frozen=True)
class Loop:
    """A loop over a loader that nobody prepared: the number of its frame, and what that calls the loader."""

    frame: int
    loader: str


def diagnose(failure: Failure) -> Finding | None:
    """Report a tensor of a batch that a loop took from a plain DataLoader in a program that has an Accelerator."""
    if not objects_of(failure, ACCELERATOR):
        return None
    for index, operand, peer in misplaced_operands(failure):
        frame = _loop_frame(failure, operand)
        if operand.device == "cpu" and frame is not None and any(map(_is_plain, failure.frames[frame].scope)):
            reason = (
                f"{describe(operand)} comes from a loader that `prepare` was not given, so it stays on the host,"
                f" while it meets a tensor on {peer.device}."
            )
            return Finding(index, reason, strength=1)
    return None


def _is_plain(binding: ScopeVariable) -> bool:
    return is_of(binding, LOADER) and not is_of(binding, *PREPARED)


def _loop_frame(failure: Failure, operand: Operand) -> int | None:
    """The frame of the loop that handed the operand out."""
    number = loop_event(failure, operand)
    places = operand.history[number].places if number is not None else ()
    frames = [frame_of(failure, place) for place in places if place.loop]
    return next((frame for frame in frames if frame is not None), None)


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Hand the loader to `prepare` where the model is, or behind where it is made; else move the batch."""
    failure = diagnosis.failure
    for loop in _loops(failure, blamed_operand(diagnosis), source):
        yield from _prepared(failure, loop, source)
    for spot in fix_sites(diagnosis):
        if spot.kind in ("handover", "use"):
            for each in move_argument(diagnosis, spot, source):
                if any(f"{one.expression}.device`" in each.title for one in objects_of(failure, ACCELERATOR)):
                    yield replace(each, safety="unsure")  # the rest of the batch may need the same


def _loops(failure: Failure, operand: Operand, source: Sources) -> Iterator[Loop]:
    """Yield the loop over the loader, with the loader's name there, and then in the callers that handed it on."""
    number = _loop_frame(failure, operand)
    frame = failure.frames[number] if number is not None else None
    file = source.file(frame.place) if frame is not None else None
    node = file.root_at(frame.place) if file is not None and frame is not None else None
    if file is None or node is None or frame is None or number is None:
        return
    plain = [each.expression for each in frame.scope if _is_plain(each)]
    loops = [each for each in file.ancestors(node) if isinstance(each, cst.For)]
    name = next((text for loop in loops for text in plain if file.find(loop.iter, text)), "")
    while name:
        yield Loop(number, name)
        passed = passed_in(failure, number, name, source)
        if passed is None:
            return
        number = passed[0]
        caller = source.file(failure.frames[number].place)
        name = caller.code(passed[1]) if caller is not None else ""


def _prepared(failure: Failure, loop: Loop, source: Sources) -> Iterator[Change]:
    place = failure.frames[loop.frame].place
    file = source.file(place)
    node = file.root_at(place) if file is not None else None
    if file is None or node is None:
        return
    scope = file.class_of(node) if loop.loader.startswith("self.") else file.function_of(node)
    given = [each for each in _givers(file, scope or file.module, loop.loader) if _is_above(file, each, node, scope)]
    if not given:
        return
    seen = [*failure.frames[loop.frame].scope, *scope_at(failure, file.place_of(given[-1]))]
    names = [each.expression for each in seen if is_of(each, ACCELERATOR)]
    title = f"Hand `{loop.loader}` to `prepare`"
    for statement in _prepares(file, scope or file.module, names):
        # A class may prepare in one method what it loops over in another; a function, from top to bottom.
        if isinstance(scope, cst.ClassDef) or file.line_of(given[-1]) < file.line_of(statement) < file.line_of(node):
            made = change(file, _with_loader(file, statement, loop.loader), title)
            if made and _is_below(file, statement, given[-1]):
                yield made
    for name in dict.fromkeys(names):
        statement = file.statement_of(given[-1])
        if statement is not None and is_bound(file, given[-1], name) and not file.loops_around(given[-1]):
            module = insert_after(file, statement, [f"{loop.loader} = {name}.prepare({loop.loader})"])
            made = change(file, module, title)
            if made:
                yield made


def _is_below(file: File, statement: cst.CSTNode, given: cst.CSTNode) -> bool:
    same = file.function_of(statement) is file.function_of(given)
    return same and file.line_of(given) < file.line_of(statement)


def _is_above(file: File, statement: cst.CSTNode, node: cst.CSTNode, scope: cst.CSTNode | None) -> bool:
    return isinstance(scope, cst.ClassDef) or file.line_of(statement) < file.line_of(node)


def _givers(file: File, scope: cst.CSTNode, name: str) -> Iterator[cst.Assign]:
    """Yield the assignments that give a name its value, alone or with others: `train, valid = loaders()`."""
    for node in file.within(scope):
        here = not isinstance(scope, cst.Module) or file.function_of(node) is None
        if here and isinstance(node, cst.Assign) and any(name in _parts(file, each.target) for each in node.targets):
            yield node


def _parts(file: File, target: cst.BaseExpression) -> list[str]:
    if isinstance(target, cst.Tuple | cst.List):
        return [file.code(each.value) for each in target.elements]
    return [file.code(target)]


def _prepares(file: File, scope: cst.CSTNode, names: list[str]) -> list[cst.Assign]:
    """The assignments of what an accelerator's `prepare` gives, last first."""
    calls = {f"{name}.prepare" for name in names}
    found = [
        node
        for node in file.within(scope)
        if isinstance(node, cst.Assign)
        and len(node.targets) == 1
        and isinstance(node.value, cst.Call)
        and file.code(node.value.func) in calls
    ]
    return found[::-1]


def _with_loader(file: File, statement: cst.Assign, loader: str) -> cst.Module | None:
    """The module with a loader behind what a statement prepares; None where names and values do not stand in pairs."""
    call, target = statement.value, statement.targets[0].target
    texts = _parts(file, target)
    if not isinstance(call, cst.Call) or len(texts) != len(call.args) or loader in texts:
        return None
    if any(each.star or each.keyword for each in call.args):
        return None
    last, between = call.args[-1], call.args[0].comma if len(call.args) > 1 else COMMA
    new = last.with_changes(value=expression(loader))
    before = last.with_changes(comma=between, whitespace_after_arg=cst.SimpleWhitespace(""))
    prepared = call.with_changes(args=[*call.args[:-1], before, new])
    if not isinstance(target, cst.Tuple):
        return file.replaced({call: prepared, target: expression(f"{texts[0]}, {loader}")})
    elements = target.elements
    before_last = elements[-1].with_changes(comma=elements[0].comma if len(elements) > 1 else COMMA)
    added = elements[-1].with_changes(value=expression(loader))
    return file.replaced({call: prepared, target: target.with_changes(elements=[*elements[:-1], before_last, added])})
