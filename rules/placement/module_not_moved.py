"""A module (the model, a criterion, a metric, a teacher) is never moved to where its inputs are."""

from collections.abc import Iterator
from dataclasses import replace

from devfix.sdk import (
    Change,
    Diagnosis,
    Failure,
    Finding,
    ModuleOwner,
    Sources,
    blamed_operand,
    construction_sites,
    fix_sites,
    is_intentional,
    misplaced_operands,
    move_module_before,
    move_result,
    outside_constructors,
    root_modules,
)


def diagnose(failure: Failure) -> Finding | None:
    """Report a parameter or buffer of a module that lies with all it has where its input does not."""
    for index, operand, peer in misplaced_operands(failure):
        for owner, root in root_modules(failure, operand)[:1]:
            if root.device != operand.device or any(event.kind == "move" for event in root.history):
                continue
            if is_intentional(failure, operand) or _is_inside(failure, owner):
                continue
            reason = f"`{owner.root}` ({root.type}) was never moved, and its input is on {peer.device}."
            return Finding(index, reason, strength=1)
    return None


def _is_inside(failure: Failure, owner: ModuleOwner) -> bool:
    """Whether the module lies in another that does not register it, so that a move of the other passes it by."""
    names = {each.expression for each in failure.frames[owner.frame].scope if each.kind == "module"}
    return any(owner.root.startswith((f"{name}.", f"{name}[")) for name in names)


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Move the module where it is made, else by a statement before it is used."""
    failure, operand = diagnosis.failure, blamed_operand(diagnosis)
    found = root_modules(failure, operand)
    for _, root in found[:1]:
        for number, spot in enumerate(outside_constructors(list(construction_sites(failure, root, source)))):
            changes = move_result(diagnosis, spot, source)
            yield from (replace(each, safety="unsure") if number else each for each in changes)
    names = {owner.frame: owner.root for owner, _ in found}
    for spot in fix_sites(diagnosis):
        if spot.frame in names and names[spot.frame] != "self":
            for each in move_module_before(diagnosis, spot, source, names[spot.frame]):
                yield replace(each, safety="unsure")
