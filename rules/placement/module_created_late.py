"""A layer or parameter is made after the module that it belongs to was moved."""

from collections.abc import Iterator
from dataclasses import replace

from devfix.sdk import (
    Blame,
    Change,
    Diagnosis,
    Failure,
    Sources,
    astray,
    blamed,
    factory_given_device,
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
    """Blame a parameter or buffer of a module whose other tensors lie on another device: the move came before it."""
    for index, operand, peer in strangers(failure):
        if is_meant(failure, operand):
            continue
        for owner, root in roots(failure, operand):
            if root.device != "mixed":
                continue
            late = owner.expression if owner.expression != owner.root else f"{owner.expression}.{owner.attribute}"
            because = (
                f"`{late}` is on {operand.device} while other parts of `{owner.root}` are on {peer.device}:"
                f" it was made after `{owner.root}` was moved."
            )
            return Blame(index, because, strength=1)
    return None


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Move the new module where it is made; give a parameter's own tensor a device; else move the whole once more."""
    failure, operand = diagnosis.failure, blamed(diagnosis)
    late = astray(failure, operand)
    if late is not None:
        for number, spot in enumerate(outside_constructors(list(made_spots(failure, late, source)))):
            changes = result_moved(diagnosis, spot, source)
            # Further out stands what called the code that made it, which may give something else.
            yield from (replace(each, safety="unsure") if number else each for each in changes)
    else:
        for spot in spots(diagnosis):
            if spot.kind == "birth":
                changes = list(factory_given_device(diagnosis, spot, source))
                yield from changes or result_moved(diagnosis, spot, source)
    names = {owner.frame: owner.root for owner, _ in roots(failure, operand)}
    for spot in spots(diagnosis):
        if spot.frame in names and names[spot.frame] != "self":
            for each in module_moved_before(diagnosis, spot, source, names[spot.frame]):
                yield replace(each, safety="unsure")
