"""A model is handed to DistributedDataParallel with `device_ids`, and was never moved to that GPU."""

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
    ScopeVariable,
    Sources,
    argument,
    assignments,
    change,
    device_expressions,
    move_to,
    variable_in_frame,
)

# DistributedDataParallel's own words: `device_ids [1], output_device 1`, or devices by their names.
ASKED = re.compile(r"(?:device_ids \[|output_device )(?:device\(type='cuda', index=|')?(?:cuda:)?(\d+)")
# A GPU by its number, or the current one: the same in each process, while `device_ids` names one for each.
FIXED = re.compile(r"""["']cuda(:\d+)?["'](?!\s*,)""")


def diagnose(failure: Failure) -> Finding | None:
    """Report a parameter on the host, where the failing call asked for it on one GPU."""
    asked = ASKED.search(failure.message)
    if failure.kind != "data-parallel" or asked is None:
        return None
    for index, operand in enumerate(failure.operands):
        if operand.device == "cpu":
            gpu, owner = f"cuda:{asked[1]}", operand.owner
            model = f"`{owner.root}`" if owner is not None else "The model"
            reason = f"{model} is on the host when it is wrapped, and `device_ids` says that it is on {gpu}."
            return Finding(index, reason, strength=1, device=gpu)
    return None


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Move the model where it is wrapped: to a device that is in scope, else to what `device_ids` names."""
    failure = diagnosis.failure
    place = failure.at
    file = source.file(place) if place is not None else None
    call = file.call_at(place) if file is not None and place is not None else None
    module = argument(call, "module", 0) if call is not None else None
    if file is None or call is None or module is None or place is None:
        return
    frame = max(number for number, each in enumerate(failure.frames) if each.place == place)
    spot = FixSite("use", place, failure.frames[frame].scope, (), frame)
    own = _asked(file, call)
    first, later = [], []
    for text in device_expressions(diagnosis, spot, file):
        if _is_device(variable_in_frame(failure, frame, text)):
            (later if _is_fixed(file, text) else first).append(text)
    for device in dict.fromkeys([*first, *([own] if own else []), *later]):
        edited = file.replaced({module.value: move_to(module.value, device)})
        made = change(file, edited, f"Move `{file.code(module.value)}` to `{device}` before it is wrapped")
        if made:
            yield made


def _is_device(binding: ScopeVariable | None) -> bool:
    return binding is not None and binding.kind in ("device", "string", "index")


def _is_fixed(file: File, name: str) -> bool:
    """Whether a name is given a device that is the same in each process."""
    values = (each.value for each in assignments(file, name))
    return any(value is not None and FIXED.search(file.code(value)) for value in values)


def _asked(file: File, call: cst.Call) -> str:
    """The expression for the device that a call names, which is the host where the call names none; "" for none."""
    given = argument(call, "device_ids", 1) or argument(call, "output_device", 2)
    if given is None:
        return ""
    value = given.value
    if isinstance(value, cst.IfExp):
        then, other = _first(file, value.body), _first(file, value.orelse)
        return f"{then} if {file.code(value.test)} else {other}" if then and other else ""
    if isinstance(value, cst.List | cst.Tuple):
        return _first(file, value)
    if not isinstance(value, cst.Name | cst.Attribute):
        return ""
    text = file.code(value)
    return f'{text}[0] if {text} else "cpu"' if given is argument(call, "device_ids", 1) else text


def _first(file: File, value: cst.BaseExpression) -> str:
    """The only element of a list; the host for None and an empty list."""
    if isinstance(value, cst.Name) and value.value == "None":
        return '"cpu"'
    if not isinstance(value, cst.List | cst.Tuple):
        return ""
    if not value.elements:
        return '"cpu"'
    only = value.elements[0].value
    if isinstance(only, cst.Integer):
        return f'"cuda:{only.value}"'  # which says more than `0` does
    return file.code(only) if len(value.elements) == 1 else ""
