"""A random generator lies on another device than the numbers that it is to draw."""

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
    call_method,
    change,
    device_expressions,
    device_text,
    expression,
    files_of,
    last_name,
    remove_keyword,
    replace_device,
    scope_at,
)

SAMPLERS = re.compile(r"torch[/\\\\]utils[/\\\\]data[/\\\\]")
DRAWING = ("DataLoader", "RandomSampler", "SubsetRandomSampler", "WeightedRandomSampler", "random_split")
MESSAGE = re.compile(r"Expected a '?(?P<wanted>\w+)'? .*found '?(?P<found>\w+)'?")


def diagnose(failure: Failure) -> Finding | None:
    """Report the generator: the numbers are wanted where the code says."""
    told = MESSAGE.search(failure.message)
    if failure.kind != "generator-device" or told is None or failure.at is None:
        return None
    reason = f"The generator is one of {told['found']}, and the numbers are to be drawn on {told['wanted']}."
    return Finding(0, reason, strength=1, device=told["wanted"])


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Draw from the generator's own stream and move the result; else make the generator where the numbers are drawn."""
    place = diagnosis.failure.at
    file = source.file(place) if place is not None else None
    call = file.call_at(place) if file is not None and place is not None else None
    given = argument(call, "generator") if call is not None else None
    if given is None:
        yield from _sampled(diagnosis, source)
    if file is None or call is None or given is None:
        return
    device = device_text(call)
    own = f"{file.code(given.value)}.device"
    if diagnosis.finding.device == "cpu" and isinstance(given.value, cst.Name | cst.Attribute):
        drawn = replace_device(call, own)
        for each in (drawn, call_method(drawn, "cpu")):
            made = change(file, file.replaced({call: each}), f"Draw on the generator's device, `{own}`")
            if made:
                yield made
        return
    # Each device has a stream of its own: the same seed gives the same numbers only where they are drawn on one.
    if device:
        drawn = call_method(remove_keyword(call, "device"), "to", device)
        made = change(file, file.replaced({call: drawn}), f"Draw on the generator's device and move to `{device}`")
        if made:
            yield made
    for construction in _constructions(file, call, given.value):
        here = FixSite("birth", place, scope_at(diagnosis.failure, place)) if place is not None else None
        texts = [device] if device else device_expressions(diagnosis, here, file) if here is not None else []
        for text in texts:
            module = file.replaced({construction: replace_device(construction, text)})
            made = change(file, module, f"Make the generator on `{text}`", safety="likely")
            if made:
                yield made


def _sampled(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Yield generators of loaders and samplers made on the host, where torch's own samplers draw their indices."""
    deepest = diagnosis.failure.frames[-1].place.path if diagnosis.failure.frames else ""
    if diagnosis.finding.device != "cpu" or not SAMPLERS.search(deepest):
        return
    for file in files_of(diagnosis.failure, source):
        for call in file.within(file.module):
            given = argument(call, "generator") if isinstance(call, cst.Call) else None
            if not isinstance(call, cst.Call) or given is None or last_name(call.func) not in DRAWING:
                continue
            text, name = file.code(given.value), last_name(call.func)
            for construction in _constructions(file, call, given.value):
                if construction.args:
                    module = file.replaced({construction: construction.with_changes(args=[])})
                    made = change(file, module, f"Make the generator of `{name}` on the host")
                    if made:
                        yield made
            if isinstance(given.value, cst.Name | cst.Attribute):
                # It may draw on the GPU elsewhere: the loader gets one of its own, from the same seed.
                own = expression(f"torch.Generator().manual_seed({text}.initial_seed())")
                title = f"Give `{name}` a generator of the host"
                made = change(file, file.replaced({given: given.with_changes(value=own)}), title, safety="likely")
                if made:
                    yield made


def _constructions(file: File, call: cst.Call, generator: cst.BaseExpression) -> Iterator[cst.Call]:
    """Yield the call of `torch.Generator` that made the generator: on the spot, or where its name is assigned."""
    text = file.code(generator)
    scope = file.class_of(call) if text.startswith("self.") else file.function_of(call)
    values = [each.value for each in assignments(file, text, scope or file.module)]
    for value in (generator, *values):
        for node in file.within(value) if value is not None else ():
            if isinstance(node, cst.Call) and last_name(node.func) == "Generator":
                yield node
