"""A collective of NCCL is given a tensor that lies on the host."""

from collections.abc import Iterator

from devfix.sdk import (
    Change,
    Diagnosis,
    Failure,
    Finding,
    Sources,
    add_device_argument,
    blamed_operand,
    change,
    describe,
    device_expressions,
    fix_sites,
    insert_before,
    names_in,
)


def diagnose(failure: Failure) -> Finding | None:
    """Report an operand on the host; it belongs on the process's own GPU, as seen in the failing code."""
    if failure.kind != "collective":
        return None
    seen = [each.device for frame in reversed(failure.owned_frames) for each in frame.scope]
    gpus = [device for device in seen if device.startswith("cuda")]
    for index, operand in enumerate(failure.operands):
        if operand.device == "cpu" and gpus:
            reason = f"{describe(operand)} is on the host, and NCCL sends what lies on GPUs."
            return Finding(index, reason, strength=1, device=gpus[0])
    return None


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Make it on the GPU; else move it before the collective, under its own name, since that may write into it."""
    for spot in fix_sites(diagnosis):
        if spot.kind == "birth":
            yield from add_device_argument(diagnosis, spot, source)
        file = source.file(spot.place) if spot.kind == "use" else None
        root = file.root_at(spot.place) if file is not None else None
        statement = file.statement_of(root) if file is not None and root is not None else None
        if file is None or statement is None or spot.frame is None:
            continue
        names = [held.expression for held in names_in(blamed_operand(diagnosis), spot.frame) if held.relation == "same"]
        for name, anchor in [(name, anchor) for name in names for anchor in device_expressions(diagnosis, spot, file)]:
            module = insert_before(file, statement, [f"{name} = {name}.to({anchor})"])
            made = change(file, module, f"Move `{name}` to `{anchor}` before it is sent")
            if made:
                yield made
