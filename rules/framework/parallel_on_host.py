"""A model is wrapped in DataParallel and was never moved, so its parameters are on the host when it is called."""

import re
from collections.abc import Iterator

import libcst as cst

from devfix.sdk import (
    Change,
    Diagnosis,
    Failure,
    File,
    Finding,
    FixSite,
    Sources,
    argument,
    assignments,
    blamed_operand,
    calls,
    change,
    device_expressions,
    files_of,
    imported_name,
    move_to,
)

# DataParallel's own words: the first of its GPUs, and where it met a parameter.
ASKED = re.compile(
    r"parameters and buffers on device (cuda:\d+) \(device_ids\[0\]\) but found one of them on device: cpu"
)
WRAPPERS = ("torch.nn.DataParallel", "torch.nn.parallel.DataParallel")


def diagnose(failure: Failure) -> Finding | None:
    """Report a parameter on the host, where DataParallel asked for it on its first GPU."""
    asked = ASKED.search(failure.message)
    if failure.kind != "data-parallel" or asked is None:
        return None
    for index, operand in enumerate(failure.operands):
        if operand.device == "cpu" and operand.owner is not None and not operand.transfers:
            reason = (
                f"`{operand.owner.root}` is on the host: DataParallel copies it from {asked[1]} to the other GPUs,"
                " and moves inputs alone."
            )
            return Finding(index, reason, strength=1, device=asked[1])
    return None


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Move the model where it is made, else where it is wrapped: to a device in scope, else to the first GPU."""
    for file in files_of(diagnosis.failure, source):
        for call in calls(file, *WRAPPERS):
            for node in (*_made(file, call), call):
                title = "Move the model to `{}` where it is " + ("wrapped" if node is call else "made")
                for device in _devices(diagnosis, file, node):
                    made = change(file, file.replaced({node: move_to(node, device)}), title.format(device))
                    if made:
                        yield made


def _made(file: File, wrapping: cst.Call) -> Iterator[cst.Call]:
    """Yield the call that makes what is wrapped, where a name stands for it in the same function."""
    module, function = argument(wrapping, "module", 0), file.function_of(wrapping)
    if module is not None and isinstance(module.value, cst.Name):
        given = assignments(file, module.value.value, function)
        values = [each.value for each in given if not file.find(each, file.code(wrapping))]
        if len(values) == 1 and isinstance(values[0], cst.Call):
            yield values[0]


def _devices(diagnosis: Diagnosis, file: File, call: cst.Call) -> list[str]:
    owner = blamed_operand(diagnosis).owner
    own = f"{owner.root.partition('.')[0]}." if owner is not None else ""
    found = [
        each
        for each in device_expressions(diagnosis, _spot(diagnosis.failure, file, call), file)
        if not each.startswith(own)
    ]
    torch = imported_name(file, "torch")
    first = f'"{diagnosis.finding.device}" if {torch}.cuda.is_available() else "cpu"'
    return [*found, first] if torch and not found else found


def _spot(failure: Failure, file: File, call: cst.Call) -> FixSite:
    """Where the model is wrapped, with what a frame of the same function has in scope."""
    for number in reversed(range(len(failure.frames))):
        frame = failure.frames[number]
        node = file.root_at(frame.place) if frame.place.path == file.path else None
        if node is not None and file.function_of(node) is file.function_of(call):
            return FixSite("birth", file.place_of(call, frame.place.function), frame.scope, (), number)
    return FixSite("birth", file.place_of(call, ""), ())
