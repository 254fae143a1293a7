"""Packing a padded batch wants its lengths on the host, and they were moved with the batch."""

from collections.abc import Iterator

from devfix.sdk import Change, Diagnosis, Failure, Finding, Sources, argument, change, host_copies, move_to

PACKING = ("pack_padded_sequence",)


def diagnose(failure: Failure) -> Finding | None:
    """Report the lengths."""
    if failure.kind != "lengths-device":
        return None
    named = [index for index, operand in enumerate(failure.operands) if operand.argument == "lengths"]
    index = named[0] if named else 0
    reason = "The lengths of a padded batch are read on the host when it is packed, and these are on a GPU."
    return Finding(index, reason, strength=1, device="cpu")


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Copy the lengths to the host where they are handed to the packing."""
    place = diagnosis.failure.at
    file = source.file(place) if place is not None else None
    call = file.call_at(place, PACKING) if file is not None and place is not None else None
    given = argument(call, "lengths", 1) if call is not None else None
    if file is None or given is None:
        yield from host_copies(diagnosis, source)
        return
    module = file.replaced({given.value: move_to(given.value, '"cpu"')})
    made = change(file, module, f"Copy `{file.code(given.value)}` to the host for packing")
    if made:
        yield made
