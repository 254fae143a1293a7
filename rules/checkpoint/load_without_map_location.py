"""A checkpoint is loaded onto the device that it was saved from, which is not there."""

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
    add_keyword,
    argument,
    calls,
    change,
    device_names,
    last_name,
    reads_of,
    scope_at,
)

LOADERS = ("torch.load", "torch.jit.load", "torch.hub.load_state_dict_from_url")
HOST = '"cpu"'


def diagnose(failure: Failure) -> Finding | None:
    """Report the loading: what the file says of devices is of the machine that wrote it."""
    if failure.kind != "deserialize" or failure.at is None:
        return None
    reason = "A checkpoint is loaded onto the device it was saved from, unless the call says where to."
    return Finding(0, reason, strength=1, device="cpu")


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Say where to: onto the host what goes into a module's state, else onto the device that is in use."""
    place = diagnosis.failure.at
    file = source.file(place) if place is not None else None
    call = file.call_at(place) if file is not None and place is not None else None
    if file is None or call is None or place is None or argument(call, "map_location", 1) is not None:
        return
    known = file.qualified_name(call.func) in LOADERS
    named = device_names(FixSite("birth", place, scope_at(diagnosis.failure, place)), file)
    passed = [text for text in named if text.endswith("map_location")]
    # Modules copy what they are given to where they are; a copy on the GPU would only double what it holds there.
    state = _is_state(file, call)
    texts = [*passed, *_habits(file, call), HOST, *named] if state else [*passed, *named, HOST]
    for number, text in enumerate(dict.fromkeys(texts)):
        safety = "safe" if known and (state or not number) else "unsure"
        module = file.replaced({call: add_keyword(call, "map_location", text)})
        made = change(file, module, f"Load onto `{text}`", safety)
        if made:
            yield made


def _habits(file: File, call: cst.Call) -> Iterator[str]:
    """Yield the literal devices onto which the file loads elsewhere."""
    for other in calls(file, *LOADERS):
        given = argument(other, "map_location", 1)
        if other is not call and given is not None and isinstance(given.value, cst.SimpleString):
            yield file.code(given.value)


def _is_state(file: File, call: cst.Call) -> bool:
    """Whether what is loaded goes nowhere but into `load_state_dict`."""
    reads = list(reads_of(file, call))
    return bool(reads) and all(
        any(isinstance(each, cst.Call) and last_name(each.func) == "load_state_dict" for each in file.ancestors(node))
        for node in reads
    )
