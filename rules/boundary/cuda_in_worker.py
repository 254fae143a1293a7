"""A worker process that was forked puts tensors on a GPU."""

from collections.abc import Iterator

import libcst as cst

from devfix.sdk import (
    Blame,
    Change,
    Diagnosis,
    Failure,
    Sources,
    change,
    given_argument,
    is_move,
    keyword_removed,
    unmoved,
)


def diagnose(failure: Failure) -> Blame | None:
    """Blame the place in the worker."""
    if failure.kind != "fork" or failure.at is None:
        return None
    because = f"{failure.at.path}:{failure.at.line} runs in a forked process, where CUDA cannot be used."
    return Blame(0, because, strength=1, device="cpu")


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Leave it on the host in the worker: the loop that takes the batches moves them."""
    place = diagnosis.failure.at
    file = source.file(place) if place is not None else None
    call = file.call_at(place) if file is not None and place is not None else None
    if file is None or call is None:
        return
    given = given_argument(call)
    new: cst.BaseExpression = call
    if is_move(call):
        new = unmoved(call)
    elif given is not None and given.keyword is not None:
        new = keyword_removed(call, given.keyword.value)
    made = change(file, file.replaced({call: new}), f"Leave `{file.code(new)}` on the host in the worker")
    if made:
        yield made
