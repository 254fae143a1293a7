"""The device "cuda" without an index means different GPUs: it is resolved per thread and at each use."""

from collections.abc import Sequence

import libcst as cst

from devfix.sdk import (
    Changes,
    Context,
    DeviceSource,
    DeviceSourceRule,
    SourceLocation,
    literal_device,
    match,
    named_device,
)

CAST = "$X.type($Y.type())"
REASON = '"cuda" without an index is the GPU that is current in the thread at that moment.'
OF_TYPE = "The name of a type says nothing of the GPU: what is cast by it goes to the current one."


class UnindexedCuda(DeviceSourceRule):
    """Names the device of its peer where it is sent, or pins the name to one GPU where it is assigned."""

    only_between_gpus = True

    def matches(self, ctx: Context, place: SourceLocation) -> bool:
        """Return whether the device was named without an index, or by a type."""
        found = ctx.device_sources()
        is_cast = next(_follow_type(ctx), None) is not None
        return is_cast or any(each.parameter or _is_unindexed(each) for each in found[:1])

    def propose(self, ctx: Context) -> Changes:
        """Use the tensor itself if one was cast by the name of its type; else rename the device."""
        for each in ctx.placement_targets():
            yield from _follow_type(each)
            if found := each.device_sources():
                yield from self.rename(each, found)

    def rename(self, ctx: Context, found: Sequence[DeviceSource]) -> Changes:
        """Rename what a run or the code shows to be "cuda" without an index."""
        outer = found[0]
        if not outer.parameter and _is_unindexed(outer):
            yield from ctx.rename_device(found, REASON)
            if isinstance(outer.named, cst.Attribute):
                yield from ctx.pin_device(outer.file.code(outer.named))


def _follow_type(ctx: Context) -> Changes:
    """Yield `.to(x)` for `.type(x.type())`, and for all such casts of a statement: its results meet one another."""
    for place in ctx.placement_locations():
        site = ctx.call_at(place)
        found = site.match(CAST) if site is not None else None
        if site is not None and site.statement is not None and found is not None:
            title = f"Follow `{site.file.code(found['Y'])}`, whose type names no GPU"
            casts = ((each, match(each, CAST)) for each in site.file.within(site.statement, cst.Call))
            edits = {each: cast.fill("$X.to($Y)") for each, cast in casts if cast is not None}
            yield from site.replace(edits, title, reason=OF_TYPE)


def _is_unindexed(found: DeviceSource) -> bool:
    """Return whether the named device is "cuda" without an index, as the run or the source shows."""
    if found.named is None:
        return named_device(found.file, found.call) == "cuda"
    text = found.file.code(found.named)
    seen = {each.device for each in found.site.scope if each.expression == text}
    return "cuda" in seen or (not seen and literal_device(found.file, found.named) == "cuda")
