"""A factory follows the device of a tensor that nobody moved."""

from collections.abc import Iterator
from dataclasses import replace

from devfix.sdk import Change, Confidence, Context, OperandRule, ScopeVariable, Site, followed, with_safety


class FollowsAStray(OperandRule):
    """Moves the tensor that the factory follows: where it is handed on, else where it comes in."""

    confidence, blames_intentional = Confidence.NEARBY, True

    def explain(self, ctx: Context) -> str:
        """Report an operand that a factory made beside other tensors on the wrong device."""
        event = ctx.creation
        if event is None or event.kind != "factory" or not event.places or ctx.operand.transfers or ctx.operand.owner:
            return ""
        # The device may come from a caller, whose scope has the tensor.
        scopes = [ctx.scope_at(each) for each in event.places if each.owned]
        if not any(_is_stray(ctx, each) for scope in scopes for each in scope):
            return ""
        place = event.places[0]
        return f"{ctx.name} was made on {ctx.operand.device} in {place.path}:{place.line}, as its factory was told."

    def propose(self, ctx: Context) -> Iterator[Change]:
        """Begin with the calls through which the factory's result came back, where the tensor was handed in."""
        places = ctx.creation.places if ctx.creation is not None else ()
        stray = followed(ctx.failure, places, ctx.sources)
        if stray is None or not _is_stray(ctx, stray):
            return
        other = ctx.follow(stray)
        sites = [_handing(site, stray) for place in places[1:] if (site := other.site_at(place, "handover"))]
        reason = f"It follows `{stray.expression}`, which is on {stray.device} and was never moved."
        for site in [*(each for each in sites if each.expressions), *other.sites()]:
            is_use = site.kind in ("handover", "use")
            found = site.move_argument() if is_use else with_safety(site.move_result(), "unsure")
            yield from (replace(each, reason=reason) for each in found)


def _is_stray(ctx: Context, variable: ScopeVariable) -> bool:
    """Whether a tensor lies on the operand's device, was there from its birth, and is another one."""
    if variable.kind != "tensor" or variable.device != ctx.operand.device or not variable.history:
        return False
    is_moved = any(event.kind == "move" for event in variable.history)
    return variable.history[0] != ctx.operand.history[0] and not is_moved and not ctx.follow(variable).is_intentional


def _handing(site: Site, stray: ScopeVariable) -> Site:
    """The site with what the tensor is called there."""
    names = [each.expression for each in site.scope if each.kind == "tensor" and each.history == stray.history]
    return site.naming(*names)
