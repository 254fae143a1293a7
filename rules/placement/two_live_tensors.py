"""Two tensors that live on different devices meet: masks, weights, thresholds and indices follow the data."""

from collections.abc import Iterator

from devfix.sdk import Change, Confidence, Context, OperandRule, device_in, is_written_to, with_safety


class TwoLiveTensors(OperandRule):
    """Moves it where it is used, and else where it is handed in, from the inside outward; then the one that it met."""

    confidence, blames_intentional = Confidence.GUESS, True
    message = "{name} is on {device} and meets a tensor on {peer}, which it should follow."

    def suspects(self, ctx: Context) -> Iterator[Context]:
        """Put what takes the result last: a copy of it would take the result away, so that the other one follows it."""
        return iter(sorted(ctx.suspects(), key=_is_result))

    def matches(self, ctx: Context) -> bool:
        """Leave a module's tensors to the module, but for plain attributes, and buffers of one that is half moved."""
        owner = ctx.operand.owner
        if owner is None or ctx.is_intentional or owner.kind == "attribute":
            return True
        return owner.kind != "parameter" and device_in(ctx.failure, owner.frame, owner.expression) == "mixed"

    def propose(self, ctx: Context) -> Iterator[Change]:
        """Take what has no name in scope, which was computed in the failing statement or a call in it, from there."""
        found = False
        for site in reversed(list(ctx.uses())):
            for each in (*site.move_list(), *site.move_argument()):
                yield from with_safety([each], "unsure" if found else "likely")
                found = True
        for site in reversed(list(ctx.sites("derived"))) if not found else ():
            if ctx.frame_of(site.place) is not None:
                yield from with_safety(site.move_result(), "unsure")
        for other in _others(ctx):
            for site in other.sites("use"):
                yield from with_safety(site.move_argument(), "unsure")


def _is_result(ctx: Context) -> bool:
    return is_written_to(ctx.failure, ctx.operand)


def _others(ctx: Context) -> Iterator[Context]:
    """Yield the other of two that were both put where they are: a run decides."""
    for other in ctx.suspects() if ctx.is_intentional else ():
        if other.finding.operand != ctx.finding.operand and other.is_intentional and not _is_result(other):
            yield other
