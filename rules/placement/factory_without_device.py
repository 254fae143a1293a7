"""A tensor is made without a device beside tensors that have one."""

from collections.abc import Iterator

from devfix.sdk import (
    FACTORIES,
    Blame,
    Change,
    Diagnosis,
    Failure,
    Sources,
    birthplace,
    blamed,
    describe,
    factory_given_device,
    result_moved,
    spots,
    strangers,
    was_moved_to,
)


def diagnose(failure: Failure) -> Blame | None:
    """Blame an operand that owned code made by a factory and that nobody moved since."""
    for index, operand, peer in strangers(failure):
        birth = operand.birth
        place = birthplace(operand)
        if birth is None or place is None or birth.kind not in ("factory", "constant", "random"):
            continue
        if was_moved_to(operand, operand.device.split(":")[0]) or operand.owner is not None:
            continue
        made = f"made by `{birth.op.removeprefix('aten::')}` on {operand.device} in {place.path}:{place.line}"
        because = f"{describe(operand)} was {made}, while it meets a tensor on {peer.device}."
        # A factory in the function that fails is as plain as evidence gets; one far away may be an input.
        frames = {(frame.place.path, frame.place.function) for frame in failure.owned_frames[-1:]}
        return Blame(index, because, strength=1 if (place.path, place.function) in frames else 3)
    return None


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Give the factory a device; move the result of one that draws random numbers, or that takes no device."""
    birth = blamed(diagnosis).birth
    for spot in spots(diagnosis):
        if spot.kind != "birth":
            continue
        if birth is not None and birth.kind != "random":
            yield from factory_given_device(diagnosis, spot, source)
        file = source.file(spot.place)
        if file is not None and file.call_at(spot.place, tuple(FACTORIES)) is None:
            yield from result_moved(diagnosis, spot, source)
