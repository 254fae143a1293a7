"""A module is made on the host when it is first needed, and what it computes meets its input's device."""

from collections.abc import Iterator
from dataclasses import replace

from devfix.sdk import (
    Change,
    Diagnosis,
    Event,
    Failure,
    Finding,
    Operand,
    ScopeVariable,
    SourceLocation,
    Sources,
    blamed_operand,
    construction_sites,
    is_intentional,
    misplaced_operands,
    move_result,
    outside_constructors,
)


def diagnose(failure: Failure) -> Finding | None:
    """Report an operand that a module computed which was made outside of constructors and never moved."""
    for index, operand, peer in misplaced_operands(failure):
        module = _module(failure, operand)
        if module is not None and not is_intentional(failure, operand):
            made = _made(module)
            place = _caller(module, made) if made is not None else None
            reason = (
                f"`{module.expression}` ({module.type}) is made on {module.device} in"
                f" `{place.function if place else ''}` when it is first needed, and nobody moves it,"
                f" while what it computes meets a tensor on {peer.device}."
            )
            return Finding(index, reason, strength=2)
    return None


def _made(module: ScopeVariable) -> Event | None:
    first = module.history[0] if module.history else None
    return first if first is not None and first.kind == "made" else None


def _caller(module: ScopeVariable, made: Event) -> SourceLocation | None:
    """Where owned code called the constructor of a module's class."""
    own = [number for number, place in enumerate(made.places) if place.function == f"{module.type}.__init__"]
    outside = made.places[own[-1] + 1 :] if own else made.places
    return next((place for place in outside if place.owned), None)


def _module(failure: Failure, operand: Operand) -> ScopeVariable | None:
    """A module in scope that was made in a method, lies with all it has where the operand does, and computed it."""
    if operand.owner is not None and operand.owner.kind in ("parameter", "buffer"):
        return None
    for frame in reversed(failure.frames):
        for module in frame.scope:
            made = _made(module)
            place = _caller(module, made) if made is not None else None
            if module.kind != "module" or module.device != operand.device or place is None:
                continue
            if any(event.kind == "move" for event in module.history):
                continue
            late = not place.function.endswith("__init__") and "." in place.function
            # The module's object keeps it: a local one is made and moved by the lines that use it.
            if late and "." in module.expression and _computed(operand, module):
                return module
    return None


def _computed(operand: Operand, module: ScopeVariable) -> bool:
    """Whether a step of the operand's way ran in a method of the module's class."""
    return any(place.function.startswith(f"{module.type}.") for event in operand.history for place in event.places[:2])


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Move the module where it is made, so that it follows its input."""
    failure = diagnosis.failure
    module = _module(failure, blamed_operand(diagnosis))
    if module is None:
        return
    for number, spot in enumerate(outside_constructors(list(construction_sites(failure, module, source)))):
        for each in move_result(diagnosis, spot, source):
            yield replace(each, safety="unsure" if number else "likely")
