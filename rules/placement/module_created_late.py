"""A layer or parameter is made after the module that it belongs to was moved."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from devfix.sdk import (
    Change,
    Diagnosis,
    Failure,
    Finding,
    FixSite,
    Sources,
    add_device_argument,
    blamed_operand,
    construction_sites,
    fix_sites,
    is_intentional,
    largest_misplaced_module,
    misplaced_operands,
    move_module_before,
    move_result,
    outside_constructors,
    root_modules,
)


def diagnose(failure: Failure) -> Finding | None:
    """Report a parameter or buffer of a module whose other tensors lie on another device: the move came before it."""
    for index, operand, peer in misplaced_operands(failure):
        if is_intentional(failure, operand):
            continue
        for owner, root in root_modules(failure, operand):
            if root.device != "mixed":
                continue
            late = owner.expression if owner.expression != owner.root else f"{owner.expression}.{owner.attribute}"
            reason = (
                f"`{late}` is on {operand.device} while other parts of `{owner.root}` are on {peer.device}:"
                f" it was made after `{owner.root}` was moved."
            )
            return Finding(index, reason, strength=1)
    return None


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Move the new module where it is made; give a parameter's own tensor a device; else move the whole once more."""
    failure, operand = diagnosis.failure, blamed_operand(diagnosis)
    late = largest_misplaced_module(failure, operand)
    made = list(construction_sites(failure, late, source)) if late is not None else []
    born = [spot for spot in fix_sites(diagnosis) if spot.kind in ("birth", "returned")]
    # What was put into a container is moved where it was made: the container lies elsewhere by this alone.
    contained = bool(made) and _in_constructor(made[0]) and bool(born) and not _in_constructor(born[0])
    for number, spot in enumerate(outside_constructors(made) if not contained else ()):
        # Further out stands what called the code that made it, which may give something else.
        yield from _unsure_after(number, move_result(diagnosis, spot, source))
    for number, spot in enumerate(born if late is None or contained else outside_constructors(born)):
        if spot.kind == "birth" or late is not None:
            given = list(add_device_argument(diagnosis, spot, source)) if spot.kind == "birth" else []
            first = spot.kind == "birth" and (late is None or contained)
            yield from _unsure_after(0 if first else number + 1, given or move_result(diagnosis, spot, source))
    names = {owner.frame: owner.root for owner, _ in root_modules(failure, operand)}
    for spot in fix_sites(diagnosis):
        if spot.frame in names and names[spot.frame] != "self":
            for each in move_module_before(diagnosis, spot, source, names[spot.frame]):
                yield replace(each, safety="unsure")


def _in_constructor(spot: FixSite) -> bool:
    return spot.place.function.endswith("__init__")


def _unsure_after(number: int, changes: Iterable[Change]) -> Iterator[Change]:
    return (replace(each, safety="unsure") if number else each for each in changes)
