"""A layer or parameter is made after the module that it belongs to was moved."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from devfix.sdk import (
    Blame,
    Change,
    Diagnosis,
    Failure,
    Sources,
    Spot,
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
    made = list(made_spots(failure, late, source)) if late is not None else []
    born = [spot for spot in spots(diagnosis) if spot.kind in ("birth", "returned")]
    # What was put into a container is moved where it was made: the container lies elsewhere by this alone.
    contained = bool(made) and _in_constructor(made[0]) and bool(born) and not _in_constructor(born[0])
    for number, spot in enumerate(outside_constructors(made) if not contained else ()):
        # Further out stands what called the code that made it, which may give something else.
        yield from _unsure_after(number, result_moved(diagnosis, spot, source))
    for number, spot in enumerate(born if late is None or contained else outside_constructors(born)):
        if spot.kind == "birth" or late is not None:
            given = list(factory_given_device(diagnosis, spot, source)) if spot.kind == "birth" else []
            first = spot.kind == "birth" and (late is None or contained)
            yield from _unsure_after(0 if first else number + 1, given or result_moved(diagnosis, spot, source))
    names = {owner.frame: owner.root for owner, _ in roots(failure, operand)}
    for spot in spots(diagnosis):
        if spot.frame in names and names[spot.frame] != "self":
            for each in module_moved_before(diagnosis, spot, source, names[spot.frame]):
                yield replace(each, safety="unsure")


def _in_constructor(spot: Spot) -> bool:
    return spot.place.function.endswith("__init__")


def _unsure_after(number: int, changes: Iterable[Change]) -> Iterator[Change]:
    return (replace(each, safety="unsure") if number else each for each in changes)
