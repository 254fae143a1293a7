"""A method that a framework calls makes a tensor on the host, where the framework has a device for it."""

from collections.abc import Iterator

from devfix.sdk import (
    Blame,
    Change,
    Diagnosis,
    Failure,
    Operand,
    Sources,
    birthplace,
    blamed,
    describe,
    factory_given_device,
    frame_of,
    is_meant,
    loop_event,
    objects_of,
    result_moved,
    spots,
    strangers,
)

HOSTS = (
    "lightning.LightningModule",
    "pytorch_lightning.LightningModule",
    "lightning.Callback",
    "pytorch_lightning.Callback",
    "transformers.Trainer",
    "diffusers.DiffusionPipeline",
)


def diagnose(failure: Failure) -> Blame | None:
    """Blame a tensor that was made without a device in a running method of an object of a framework's class."""
    for index, operand, peer in strangers(failure):
        birth, frame = operand.birth, _frame(failure, operand)
        if birth is None or frame is None or operand.device != "cpu" or is_meant(failure, operand):
            continue
        if birth.kind not in ("factory", "constant", "random") or loop_event(failure, operand) is not None:
            continue
        if operand.owner is None and _devices(failure, frame, peer.device):
            because = (
                f"{describe(operand)} was made on {operand.device} in `{failure.frames[frame].place.function}`,"
                f" which the framework calls with tensors on {peer.device}."
            )
            return Blame(index, because, strength=1)
    return None


def _frame(failure: Failure, operand: Operand) -> int | None:
    """The frame of the method that made the operand, where `self` is of a framework's class."""
    place = birthplace(operand)
    frame = frame_of(failure, place) if place is not None else None
    if frame is None or not any(each.expression == "self" for each in objects_of(failure, *HOSTS, frame=frame)):
        return None
    return frame


def _devices(failure: Failure, frame: int, device: str) -> list[str]:
    """What the framework calls the device at a frame: `self.device`, `self.args.device`, `model.device`."""
    scope = failure.frames[frame].scope
    return [each.expression for each in scope if each.type == "Property" and each.device == device]


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Give the factory the framework's device; move random numbers, which stay those of the seed."""
    failure, operand = diagnosis.failure, blamed(diagnosis)
    frame, birth = _frame(failure, operand), operand.birth
    if frame is None or birth is None:
        return
    target = next(each.device for each in failure.operands if each.device != operand.device)
    names = _devices(failure, frame, target)
    for spot in spots(diagnosis):
        if spot.kind == "birth":
            given = [] if birth.kind == "random" else list(factory_given_device(diagnosis, spot, source))
            for each in given or result_moved(diagnosis, spot, source):
                if any(f"`{name}`" in each.title for name in names):
                    yield each
