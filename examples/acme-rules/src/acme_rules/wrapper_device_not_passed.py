"""A wrapper takes a device, and its caller does not pass one on."""

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from devfix.sdk import (
    Blame,
    Change,
    Diagnosis,
    Failure,
    Sources,
    anchors,
    argument,
    birthplace,
    change,
    describe,
    keyword_added,
    last_name,
    spots,
    strangers,
)


@dataclass(frozen=True)
class Options:
    """Which functions are wrappers, by their last name, and what their device parameter is called."""

    wrappers: tuple[str, ...] = ("scratch", "make_scratch")
    keyword: str = "device"


def diagnose(failure: Failure, options: Options) -> Blame | None:
    """Blame a tensor that was made inside of a wrapper."""
    for index, operand, peer in strangers(failure):
        place = birthplace(operand)
        if place is not None and place.function.rpartition(".")[2] in options.wrappers:
            made = f"was made by the wrapper `{place.function}` without a device"
            return Blame(index, f"{describe(operand)} {made}, and meets a tensor on {peer.device}.", strength=1)
    return None


def propose(diagnosis: Diagnosis, source: Sources, options: Options) -> Iterator[Change]:
    """Pass the device at the call of the wrapper."""
    for spot in spots(diagnosis):
        file = source.file(spot.place)
        call = file.call_at(spot.place, options.wrappers) if file else None
        if spot.kind != "returned" or file is None or call is None or is_given(call, options.keyword):
            continue
        for anchor in anchors(diagnosis, spot, file):
            passed = keyword_added(call, options.keyword, anchor)
            made = change(file, file.replaced({call: passed}), f"Pass `{anchor}` to `{last_name(call.func)}`")
            if made:
                yield made


def is_given(call: cst.Call, keyword: str) -> bool:
    """Whether the call names a device already; then it is not the wrapper's caller that forgot."""
    return argument(call, keyword) is not None
