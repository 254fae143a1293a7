"""A wrapper takes a device, and its caller does not pass one on."""

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from devfix.sdk import (
    Change,
    Diagnosis,
    Failure,
    Finding,
    Sources,
    add_keyword,
    argument,
    change,
    creation_location,
    describe,
    device_expressions,
    fix_sites,
    last_name,
    misplaced_operands,
)


@dataclass(frozen=True)
class Options:
    """Which functions are wrappers, by their last name, and what their device parameter is called."""

    wrappers: tuple[str, ...] = ("scratch", "make_scratch")
    keyword: str = "device"


def diagnose(failure: Failure, options: Options) -> Finding | None:
    """Blame a tensor that was made inside of a wrapper."""
    for index, operand, peer in misplaced_operands(failure):
        place = creation_location(operand)
        if place is not None and place.function.rpartition(".")[2] in options.wrappers:
            made = f"was made by the wrapper `{place.function}` without a device"
            return Finding(index, f"{describe(operand)} {made}, and meets a tensor on {peer.device}.", strength=1)
    return None


def propose(diagnosis: Diagnosis, source: Sources, options: Options) -> Iterator[Change]:
    """Pass the device at the call of the wrapper."""
    for spot in fix_sites(diagnosis):
        file = source.file(spot.place)
        call = file.call_at(spot.place, options.wrappers) if file else None
        if spot.kind != "returned" or file is None or call is None or is_given(call, options.keyword):
            continue
        for anchor in device_expressions(diagnosis, spot, file):
            passed = add_keyword(call, options.keyword, anchor)
            made = change(file, file.replaced({call: passed}), f"Pass `{anchor}` to `{last_name(call.func)}`")
            if made:
                yield made


def is_given(call: cst.Call, keyword: str) -> bool:
    """Whether the call names a device already; then it is not the wrapper's caller that forgot."""
    return argument(call, keyword) is not None
