"""A function takes a device, and its caller does not pass its own on."""

from collections.abc import Iterator, Sequence

from devfix.sdk import (
    Changes,
    Confidence,
    Context,
    DeviceSource,
    DeviceSourceRule,
    Finding,
    SourceLocation,
    fill_message,
    last_placement,
    pass_device_to_creator,
    tell_device,
)


class ParameterNotPassedOn(DeviceSourceRule):
    """Passes the device in the call that omits it."""

    def diagnose(self, ctx: Context) -> Finding | None:
        """Report a tensor that one function placed for another, or could not place without a GPU."""
        if ctx.failure.kind == "no-device" and len(ctx.failure.owned_frames) > 1 and ctx.failure.at is not None:
            return ctx.report(fill_message("{failed_at} uses a GPU, and there is none.", ctx), device="cpu")
        return super().diagnose(ctx) or next(_report_defaults(ctx), None) or next(_report_untold(ctx), None)

    def matches(self, ctx: Context, place: SourceLocation) -> bool:
        """Require that several owned functions took part in placing it."""
        placed = last_placement(ctx.operand)
        return placed is not None and sum(each.owned for each in placed.places) > 1

    def propose(self, ctx: Context) -> Changes:
        """Pass a parameter that is left at its default, else a keyword to a function that passes on what it gets."""
        yield from super().propose(ctx)
        yield from tell_device(ctx.diagnosis, ctx.sources) if ctx.failure.operands else ()
        for site in ctx.creation_sites() if ctx.failure.operands else ():
            if site.function is not None and site.function.params.star_kwarg is not None:
                yield from pass_device_to_creator(ctx, site)

    def rename(self, ctx: Context, found: Sequence[DeviceSource]) -> Changes:
        """Pass the parameter that the caller leaves at its default."""
        if found[0].parameter:
            reason = f"`{found[0].parameter}` is a parameter there, which the caller leaves to its default."
            yield from ctx.rename_device(found, reason)


def _report_defaults(ctx: Context) -> Iterator[Finding]:
    """Yield a finding for each operand that a default put on a GPU on purpose, where what it meets is elsewhere."""
    for each in map(ctx.view, range(len(ctx.failure.operands))):
        placed = last_placement(each.operand)
        place = placed.owned_place if placed is not None else None
        if place is not None and each.operand.owner is None and each.is_intentional:
            found = each.device_sources()
            if found and found[0].parameter:
                said = f"{each.name} was put on {each.operand.device} in {place.shown}"
                yield each.report(f"{said}, by the default of `{found[0].parameter}`.", Confidence.INDIRECT)


def _report_untold(ctx: Context) -> Iterator[Finding]:
    """Yield a finding for each operand that was created in a function that can be told a device, and was told none."""
    for each in ctx.suspects():
        place = each.creation.owned_place if each.creation is not None else None
        if place is not None and not each.operand.transfers and any(tell_device(each.diagnosis, each.sources)):
            yield each.report(f"{each.name} was created in {place.shown}, for a caller that names no device.")
