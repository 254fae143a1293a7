"""Memory is pinned for tensors that lie on a GPU already."""

from collections.abc import Iterator

import libcst as cst

from devfix.sdk import (
    Change,
    Diagnosis,
    Failure,
    Finding,
    Sources,
    argument,
    change,
    files_of,
    last_name,
    remove_keyword,
)


def diagnose(failure: Failure) -> Finding | None:
    """Report the pinning: the tensors are where they are meant to go."""
    if failure.kind != "pin-memory" or not failure.operands or failure.operands[0].device == "cpu":
        return None
    where = failure.operands[0].device
    return Finding(0, f"Only the host's memory can be pinned, and the tensor is on {where}.", strength=1)


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Pin nothing: at the tensor, or in the loader."""
    place = diagnosis.failure.at
    file = source.file(place) if place is not None else None
    call = file.call_at(place, ("pin_memory",)) if file is not None and place is not None else None
    if file is not None and call is not None and isinstance(call.func, cst.Attribute):
        made = change(file, file.replaced({call: call.func.value}), f"Do not pin `{file.code(call.func.value)}`")
        if made:
            yield made
        return
    for each in files_of(diagnosis.failure, source):
        for node in each.within(each.module):
            if isinstance(node, cst.Call) and last_name(node.func).endswith("Loader") and argument(node, "pin_memory"):
                module = each.replaced({node: remove_keyword(node, "pin_memory")})
                made = change(each, module, f"Let `{each.code(node.func)}` pin nothing")
                if made:
                    yield made
