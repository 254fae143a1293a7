"""A scheduler sets its timesteps without a device, so they are on the host while the model is not."""

from devfix.sdk import Changes, Confidence, Context, OperandRule, SourceLocation

SCHEDULER = "diffusers.SchedulerMixin"


class TimestepsOnHost(OperandRule):
    """Passes the device to `set_timesteps`, or moves the timestep where the program passes it on."""

    confidence, needs_object = Confidence.NEARBY, (SCHEDULER,)
    message = (
        "The scheduler's timesteps are on {device}, since `set_timesteps` was called without a device, while a tensor"
        " derived from them meets one on {peer}."
    )

    def matches(self, ctx: Context) -> bool:
        """Require a tensor that comes from the timesteps of a scheduler in scope, and was never moved."""
        return not ctx.operand.transfers and bool(_places(ctx))

    def propose(self, ctx: Context) -> Changes:
        """Name the device in the innermost call."""
        for place in _places(ctx)[:1]:
            site = ctx.call_at(place, "set_timesteps")
            if site is None or site.argument("device", 1):
                continue
            for device in site.device_expressions():
                yield from site.add_keyword("device", device, f"Set the timesteps on `{device}`")
        for use in ctx.uses():
            yield from use.move_argument()


def _places(ctx: Context) -> list[SourceLocation]:
    """Return the owned locations of the `set_timesteps` calls from which the operand was derived."""
    places = ctx.operand.creation_places
    if not places or places[0].owned or not any(place.function.endswith(".set_timesteps") for place in places):
        return []
    return [place for place in places if place.owned]
