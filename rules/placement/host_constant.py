"""A tensor made when a module is imported stays on the host and is handed to code on another device."""

from collections.abc import Iterator

from devfix.sdk import (
    Blame,
    Change,
    Diagnosis,
    Failure,
    Sources,
    argument_moved,
    assigned_moved,
    describe,
    frame_of,
    is_meant,
    result_moved,
    spots,
    strangers,
)


def diagnose(failure: Failure) -> Blame | None:
    """Blame an operand that was born while a file was imported, which is over, and never moved since."""
    for index, operand, peer in strangers(failure):
        held = operand.owner is not None and operand.owner.kind in ("parameter", "buffer")
        birth = operand.birth
        if birth is None or held or is_meant(failure, operand):
            continue
        imported = next((place for place in birth.places if place.owned and place.function == "<module>"), None)
        if imported is None or birth.places[0].path != imported.path or frame_of(failure, imported) is not None:
            continue
        because = (
            f"{describe(operand)} is a constant of {imported.path}, made on {operand.device} when the file was"
            f" imported; nobody moved it to {peer.device}."
        )
        return Blame(index, because, strength=2)
    return None


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Move it where it is handed in: a constant serves every device, so it is not the constant that changes."""
    for spot in spots(diagnosis):
        if spot.kind == "derived" and frame_of(diagnosis.failure, spot.place) is not None:
            yield from result_moved(diagnosis, spot, source)
        elif spot.kind in ("handover", "use"):
            yield from assigned_moved(diagnosis, spot, source)
            yield from argument_moved(diagnosis, spot, source)
