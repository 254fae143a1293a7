"""A module (the model, a criterion, a metric, a teacher) is never moved to where its inputs are."""

from collections.abc import Iterator
from dataclasses import replace

from devfix.sdk import (
    Blame,
    Change,
    Diagnosis,
    Failure,
    Owner,
    Sources,
    blamed,
    is_meant,
    made_spots,
    module_moved_before,
    outside_constructors,
    result_moved,
    roots,
    spots,
    strangers,
)


def diagnose(failure: Failure) -> Blame | None:
    """Blame a parameter or buffer of a module that lies with all it has where its input does not."""
    for index, operand, peer in strangers(failure):
        for owner, root in roots(failure, operand)[:1]:
            if root.device != operand.device or any(event.kind == "move" for event in root.history):
                continue
            if is_meant(failure, operand) or _is_inside(failure, owner):
                continue
            because = f"`{owner.root}` ({root.type}) was never moved, and its input is on {peer.device}."
            return Blame(index, because, strength=1)
    return None


def _is_inside(failure: Failure, owner: Owner) -> bool:
    """Whether the module lies in another that does not register it, so that a move of the other passes it by."""
    names = {each.expression for each in failure.frames[owner.frame].scope if each.kind == "module"}
    return any(owner.root.startswith((f"{name}.", f"{name}[")) for name in names)


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Move the module where it is made, else by a statement before it is used."""
    failure, operand = diagnosis.failure, blamed(diagnosis)
    found = roots(failure, operand)
    for _, root in found[:1]:
        for number, spot in enumerate(outside_constructors(list(made_spots(failure, root, source)))):
            changes = result_moved(diagnosis, spot, source)
            yield from (replace(each, safety="unsure") if number else each for each in changes)
    names = {owner.frame: owner.root for owner, _ in found}
    for spot in spots(diagnosis):
        if spot.frame in names and names[spot.frame] != "self":
            for each in module_moved_before(diagnosis, spot, source, names[spot.frame]):
                yield replace(each, safety="unsure")
