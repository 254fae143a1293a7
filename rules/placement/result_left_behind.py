"""A function knows the device, and hands out a result that it computed on another."""

from collections.abc import Iterator

from devfix.sdk import (
    Change,
    Confidence,
    Context,
    OperandRule,
    SourceLocation,
    on_device,
    preserves_data,
    with_safety,
)


class ResultLeftBehind(OperandRule):
    """Moves the result to the device that the function knows, where it is computed."""

    confidence = Confidence.REMOTE

    def explain(self, ctx: Context) -> str:
        """Report an operand that a function now over computed where a name for the right device was at hand."""
        for place in _places(ctx)[:1] if ctx.operand.owner is None else ():
            return (
                f"{ctx.name} was computed on {ctx.operand.device} in {place.path}:{place.line}, where"
                f" `{_name(ctx, place)}` says {ctx.target_device}."
            )
        return ""

    def propose(self, ctx: Context) -> Iterator[Change]:
        """Move it in the function that ran last."""
        for place in _places(ctx):
            if site := ctx.site_at(place, "derived"):
                yield from with_safety(site.move_result(), "likely")


def _places(ctx: Context) -> list[SourceLocation]:
    """Where functions that are over computed new data on its way with a name for the device at hand, the last first."""
    steps = [event for event in reversed(ctx.operand.history[1:]) if event.kind == "op" and not preserves_data(event)]
    found = (event.owned_place for event in steps)
    return [each for each in found if each and ctx.frame_of(each) is None and _name(ctx, each)]


def _name(ctx: Context, place: SourceLocation) -> str:
    """What names the device at a place, where "cuda" without an index means the current GPU; "" for nothing."""
    scope, device = ctx.scope_at(place), ctx.target_device
    said = (device, device.partition(":")[0])
    return next((each.expression for one in said for each in on_device(scope, one, "device", "string")), "")
