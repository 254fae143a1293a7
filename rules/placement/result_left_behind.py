"""A function has the device in scope, and returns a result that it computed on another."""

from devfix.sdk import (
    Changes,
    Confidence,
    Context,
    OperandRule,
    Safety,
    SourceLocation,
    on_device,
    preserves_data,
    with_safety,
)


class ResultLeftBehind(OperandRule):
    """Moves the result to the device that the function has in scope, where it is computed."""

    confidence = Confidence.REMOTE

    def explain(self, ctx: Context) -> str:
        """Report an operand that a function which has returned computed while it had a name for the right device."""
        for place in _places(ctx)[:1] if ctx.operand.owner is None else ():
            return (
                f"{ctx.name} was computed on {ctx.operand.device} in {place.shown}, where"
                f" `{_name(ctx, place)}` says {ctx.target_device}."
            )
        return ""

    def propose(self, ctx: Context) -> Changes:
        """Move it in the function that ran last."""
        for place in _places(ctx):
            if site := ctx.site_at(place, "derived"):
                yield from with_safety(site.move_result(), Safety.LIKELY)


def _places(ctx: Context) -> list[SourceLocation]:
    """Return where returned functions computed new data in its history with the device in scope, last first."""
    steps = [event for event in reversed(ctx.operand.history[1:]) if event.kind == "op" and not preserves_data(event)]
    found = (event.owned_place for event in steps)
    return [each for each in found if each and ctx.frame_of(each) is None and _name(ctx, each)]


def _name(ctx: Context, place: SourceLocation) -> str:
    """Return the name of the device at a location, where "cuda" without an index is the current GPU; "" if none."""
    scope, device = ctx.scope_at(place), ctx.target_device
    said = (device, device.partition(":")[0])
    return next((each.expression for one in said for each in on_device(scope, one, "device", "string")), "")
