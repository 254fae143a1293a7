"""A hand-written `.to()` moves some of an object's tensors and forgets others."""

import re
from collections.abc import Iterator

import libcst as cst

from devfix.sdk import (
    Change,
    Diagnosis,
    Event,
    Failure,
    File,
    Finding,
    Operand,
    SourceLocation,
    Sources,
    blamed_operand,
    change,
    code,
    definition,
    derived_in_frame,
    expression,
    insert_after,
    is_intentional,
    is_move,
    misplaced_operands,
    remove_move,
)

MOVER = re.compile(r"\.(to|cuda|_apply|to_device|move_to|move_to_device|_to)$")


def diagnose(failure: Failure) -> Finding | None:
    """Report a field of an object whose other fields were moved by a method of its own."""
    for index, operand, _ in misplaced_operands(failure):
        found = _forgotten(failure, operand)
        if found is None or is_intentional(failure, operand):
            continue
        field, sibling, place = found
        reason = (
            f"`{field}` stayed on {operand.device}: `{place.function}` ({place.path}:{place.line}) moves `{sibling}`"
            f" and forgets it."
        )
        return Finding(index, reason, strength=1)
    return None


def _forgotten(failure: Failure, operand: Operand) -> tuple[str, str, SourceLocation] | None:
    """The field that holds the operand, a sibling that a method of the object moved, and where it did so."""
    for number, frame in enumerate(failure.frames):
        names = [held.expression for held in operand.names if held.frame == number]
        names += [each.expression for each in derived_in_frame(failure, operand, number)]
        for name in names:
            whole, dot, field = name.rpartition(".")
            for binding in frame.scope if dot else ():
                owner, _, sibling = binding.expression.rpartition(".")
                move = _moved_by_method(binding.history) if owner == whole and sibling != field else None
                if move is not None and binding.kind == "tensor" and binding.device != operand.device:
                    return name, sibling, move
    return None


def _moved_by_method(history: tuple[Event, ...]) -> SourceLocation | None:
    for event in reversed(history):
        if event.kind == "move":
            return next((place for place in event.places if place.owned and MOVER.search(place.function)), None)
    return None


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Move the field as the method moves its sibling."""
    found = _forgotten(diagnosis.failure, blamed_operand(diagnosis))
    file = source.file(found[2]) if found is not None else None
    method = definition(file, found[2].function) if file is not None and found is not None else None
    if file is None or found is None or not isinstance(method, cst.FunctionDef):
        return
    name, sibling, place = found
    field, bracket, index = name.rpartition(".")[2].partition("[")
    call = next((each for each in file.expressions_at(place) if isinstance(each, cst.Call)), None)
    if call is None:
        return
    if _is_moved(file, method, f"self.{field}"):
        return
    bare = [each for each in file.find(method, f"self.{field}") if isinstance(file.parent(each), cst.Arg)]
    if bare and not bracket:
        renamed = expression(_renamed(file.code(call), sibling, f"self.{field}"))
        module: cst.Module | None = file.replaced(dict.fromkeys(bare, renamed))
    else:
        module = _stated(file, call, sibling, field, bracket + index)
    made = change(file, module, f"Move `{field}` in `{place.function}` as well")
    if made:
        yield made


def _is_moved(file: File, method: cst.FunctionDef, name: str) -> bool:
    """Whether the method moves what a name holds already, elsewhere than the others: `self.lengths.cpu()`."""
    moves = (node for node in file.within(method) if isinstance(node, cst.Call) and is_move(node))
    return any(code(remove_move(call)) == name for call in moves)


def _renamed(text: str, sibling: str, name: str) -> str:
    return re.sub(rf"\bself\.{re.escape(sibling)}\b", name, text)


def _stated(file: File, call: cst.Call, sibling: str, field: str, index: str) -> cst.Module | None:
    """The module with `self.field = …` behind the statement that moves the sibling in place."""
    statement = file.statement_of(call)
    if statement is None or not file.code(statement).startswith(f"self.{sibling} = "):
        return None
    one = _renamed(file.code(call), sibling, "each")
    if not index:
        value = _renamed(file.code(call), sibling, f"self.{field}")
    elif '"' in index or "'" in index:
        value = f"{{key: {one} for key, each in self.{field}.items()}}"
    else:
        value = f"[{one} for each in self.{field}]"
    return insert_after(file, statement, [f"self.{field} = {value}"])
