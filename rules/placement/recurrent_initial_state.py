"""The first state of a recurrent layer is made on the host, beside an input that is not."""

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
    is_meant,
    result_moved,
    spots,
    strangers,
)

LAYERS = ("RNN.forward", "LSTM.forward", "GRU.forward", "RNNCell.forward", "LSTMCell.forward", "GRUCell.forward")


def diagnose(failure: Failure) -> Blame | None:
    """Blame a state that owned code made and handed to a recurrent layer."""
    inside = any(not frame.place.owned and frame.place.function in LAYERS for frame in failure.frames)
    if failure.kind != "recurrent-state" and not inside:
        return None
    for index, operand, peer in strangers(failure):
        place = birthplace(operand)
        if place is None or operand.owner is not None or is_meant(failure, operand) or operand.birth is None:
            continue
        if operand.birth.kind not in ("factory", "constant", "random"):
            continue
        because = (
            f"{describe(operand)}, a state that {place.path}:{place.line} begins with, is on {operand.device} while the"
            f" layer and its input are on {peer.device}."
        )
        return Blame(index, because, strength=2)
    return None


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Make the state where the input is."""
    birth = blamed(diagnosis).birth
    for spot in spots(diagnosis):
        if spot.kind != "birth" or birth is None or spot.place != birth.places[0]:
            continue
        if birth.kind != "random":
            yield from factory_given_device(diagnosis, spot, source)
        file = source.file(spot.place)
        if birth.kind == "random" or (file is not None and file.call_at(spot.place, tuple(FACTORIES)) is None):
            yield from result_moved(diagnosis, spot, source)
