"""NumPy, or a library on top of it, is handed a tensor that lies on a GPU."""

from collections.abc import Iterator

import libcst as cst

from devfix.sdk import (
    Change,
    Diagnosis,
    Failure,
    Finding,
    Sources,
    change,
    describe,
    host_copies,
    move_to,
)


def diagnose(failure: Failure) -> Finding | None:
    """Report the tensor that NumPy wanted; the code that asked for it is never wrong about that."""
    if failure.kind != "numpy-on-device" or not failure.operands:
        return None
    wrong = failure.operands[0]
    reason = f"{describe(wrong)} is on {wrong.device}, and NumPy reads the host's memory alone."
    return Finding(0, reason, strength=1, device="cpu")


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Copy it to the host in front of `.numpy()`, or where it is handed over."""
    place = diagnosis.failure.at
    file = source.file(place) if place is not None else None
    call = file.call_at(place, ("numpy", "__array__")) if file is not None and place is not None else None
    if file is not None and call is not None and isinstance(call.func, cst.Attribute):
        receiver = call.func.value
        module = file.replaced({receiver: move_to(receiver, '"cpu"')})
        made = change(file, module, f"Copy `{file.code(receiver)}` to the host for NumPy")
        if made:
            yield made
        return
    yield from host_copies(diagnosis, source)
