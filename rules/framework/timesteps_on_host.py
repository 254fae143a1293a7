"""A scheduler sets its timesteps without a device, and they meet the model on the host."""

from collections.abc import Iterator

from devfix.sdk import Change, Confidence, Context, OperandRule, SourceLocation

SCHEDULER = "diffusers.SchedulerMixin"


class TimestepsOnHost(OperandRule):
    """Tells `set_timesteps` the device; else moves the timestep where the program hands it on."""

    confidence, needs_object = Confidence.NEARBY, (SCHEDULER,)
    message = (
        "The scheduler's timesteps are on {device}, for `set_timesteps` was told no device, while what comes of them"
        " meets a tensor on {peer}."
    )

    def matches(self, ctx: Context) -> bool:
        """Ask for a tensor that comes from the timesteps of a scheduler in scope, and that nobody moved."""
        return not ctx.operand.transfers and bool(_places(ctx))

    def propose(self, ctx: Context) -> Iterator[Change]:
        """Name the device in the innermost call."""
        for place in _places(ctx)[:1]:
            site = ctx.call_at(place, "set_timesteps")
            for device in site.device_expressions() if site is not None and not site.argument("device", 1) else ():
                yield from site.add_keyword("device", device, f"Set the timesteps on `{device}`")
        for use in ctx.uses():
            yield from use.move_argument()


def _places(ctx: Context) -> list[SourceLocation]:
    """The owned places in which a scheduler was asked to set its timesteps, of which the operand was made."""
    places = ctx.creation.places if ctx.creation is not None else ()
    if not places or places[0].owned or not any(place.function.endswith(".set_timesteps") for place in places):
        return []
    return [place for place in places if place.owned]
