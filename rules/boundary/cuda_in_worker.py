"""A worker process that was forked puts tensors on a GPU."""

from collections.abc import Iterator

import libcst as cst

from devfix.sdk import (
    Change,
    Diagnosis,
    Failure,
    Finding,
    Sources,
    change,
    device_argument,
    is_move,
    remove_keyword,
    remove_move,
)


def diagnose(failure: Failure) -> Finding | None:
    """Report the place in the worker."""
    if failure.kind != "fork" or failure.at is None:
        return None
    reason = f"{failure.at.path}:{failure.at.line} runs in a forked process, where CUDA cannot be used."
    return Finding(0, reason, strength=1, device="cpu")


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Leave it on the host in the worker: the loop that takes the batches moves them."""
    place = diagnosis.failure.at
    file = source.file(place) if place is not None else None
    call = file.call_at(place) if file is not None and place is not None else None
    if file is None or call is None:
        return
    given = device_argument(call)
    new: cst.BaseExpression = call
    if is_move(call):
        new = remove_move(call)
    elif given is not None and given.keyword is not None:
        new = remove_keyword(call, given.keyword.value)
    made = change(file, file.replaced({call: new}), f"Leave `{file.code(new)}` on the host in the worker")
    if made:
        yield made
