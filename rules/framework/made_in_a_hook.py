"""A method that a framework calls makes a tensor on the host, where the framework has a device for it."""

from collections.abc import Iterator

from devfix.sdk import (
    Change,
    Diagnosis,
    Failure,
    Finding,
    Operand,
    Sources,
    add_device_argument,
    blamed_operand,
    creation_location,
    describe,
    fix_sites,
    frame_of,
    is_intentional,
    loop_event,
    misplaced_operands,
    move_result,
    objects_of,
)

HOSTS = (
    "lightning.LightningModule",
    "pytorch_lightning.LightningModule",
    "lightning.Callback",
    "pytorch_lightning.Callback",
    "transformers.Trainer",
    "diffusers.DiffusionPipeline",
)


def diagnose(failure: Failure) -> Finding | None:
    """Report a tensor that was made without a device in a running method of an object of a framework's class."""
    for index, operand, peer in misplaced_operands(failure):
        birth, frame = operand.creation, _frame(failure, operand)
        if birth is None or frame is None or operand.device != "cpu" or is_intentional(failure, operand):
            continue
        if birth.kind not in ("factory", "constant", "random") or loop_event(failure, operand) is not None:
            continue
        if operand.owner is None and _devices(failure, frame, peer.device):
            reason = (
                f"{describe(operand)} was made on {operand.device} in `{failure.frames[frame].place.function}`,"
                f" which the framework calls with tensors on {peer.device}."
            )
            return Finding(index, reason, strength=1)
    return None


def _frame(failure: Failure, operand: Operand) -> int | None:
    """The frame of the method that made the operand, where `self` is of a framework's class."""
    place = creation_location(operand)
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
    failure, operand = diagnosis.failure, blamed_operand(diagnosis)
    frame, birth = _frame(failure, operand), operand.creation
    if frame is None or birth is None:
        return
    target = next(each.device for each in failure.operands if each.device != operand.device)
    names = _devices(failure, frame, target)
    for spot in fix_sites(diagnosis):
        if spot.kind == "birth":
            given = [] if birth.kind == "random" else list(add_device_argument(diagnosis, spot, source))
            for each in given or move_result(diagnosis, spot, source):
                if any(f"`{name}`" in each.title for name in names):
                    yield each
