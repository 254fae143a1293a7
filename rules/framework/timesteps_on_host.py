"""A scheduler sets its timesteps without a device, and they meet the model on the host."""

from collections.abc import Iterator

from devfix.sdk import (
    Change,
    Diagnosis,
    Event,
    Failure,
    Finding,
    FixSite,
    Operand,
    SourceLocation,
    Sources,
    add_keyword,
    argument,
    blamed_operand,
    change,
    device_expressions,
    fix_sites,
    is_intentional,
    last_name,
    misplaced_operands,
    move_argument,
    objects_of,
    scope_at,
)

SCHEDULER = "diffusers.SchedulerMixin"


def diagnose(failure: Failure) -> Finding | None:
    """Report a tensor that comes from the timesteps of a scheduler in scope, and that nobody moved."""
    for index, operand, peer in misplaced_operands(failure):
        if not operand.transfers and not is_intentional(failure, operand) and _places(failure, operand):
            reason = (
                f"The scheduler's timesteps are on {operand.device}, for `set_timesteps` was told no device,"
                f" while what comes of them meets a tensor on {peer.device}."
            )
            return Finding(index, reason, strength=2)
    return None


def _places(failure: Failure, operand: Operand) -> list[SourceLocation]:
    """The owned places in which a scheduler was asked to set its timesteps, of which the operand was made."""
    birth: Event | None = operand.creation
    if birth is None or not objects_of(failure, SCHEDULER) or not birth.places or birth.places[0].owned:
        return []
    if not any(place.function.endswith(".set_timesteps") for place in birth.places):
        return []
    return [place for place in birth.places if place.owned]


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Tell `set_timesteps` the device; else move the timestep where the program hands it on."""
    failure = diagnosis.failure
    for place in _places(failure, blamed_operand(diagnosis))[:1]:
        file = source.file(place)
        call = file.call_at(place, ("set_timesteps",)) if file is not None else None
        if file is None or call is None or argument(call, "device", 1) is not None:
            continue
        for device in device_expressions(diagnosis, FixSite("birth", place, scope_at(failure, place)), file):
            told = add_keyword(call, "device", device)
            made = change(file, file.replaced({call: told}), f"Set the timesteps on `{device}`")
            if made and last_name(call.func) == "set_timesteps":
                yield made
    for spot in fix_sites(diagnosis):
        if spot.kind in ("handover", "use"):
            yield from move_argument(diagnosis, spot, source)
