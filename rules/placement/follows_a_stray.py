"""A tensor is created on the device of a tensor that was itself never moved."""

from dataclasses import replace

import libcst as cst

from devfix.sdk import (
    FACTORIES,
    Changes,
    Confidence,
    Context,
    OperandRule,
    Safety,
    ScopeVariable,
    Site,
    assignments,
    classes_holding,
    find_followed,
    register_as_buffer,
    rewrite,
    with_safety,
)


class FollowsAStray(OperandRule):
    """Moves the tensor whose device the factory was given: where it is passed on, else where it comes in."""

    confidence, reports_intentional = Confidence.NEARBY, True

    def explain(self, ctx: Context) -> str:
        """Report an operand that a factory created beside other tensors on the wrong device."""
        event = ctx.creation
        if event is None or event.kind != "factory" or not event.places or ctx.operand.transfers or ctx.operand.owner:
            return ""
        # The device may come from a caller, whose scope has the tensor.
        scopes = [ctx.scope_at(each) for each in event.places if each.owned]
        strays = (each for scope in scopes for each in scope if _is_unmoved(ctx, each))
        if all(ctx.follow(each).is_intentional for each in strays) and _followed_stray(ctx) is None:
            return ""
        place = event.places[0]
        return f"{ctx.name} was created on {ctx.operand.device} in {place.shown}, as its factory was asked to."

    def propose(self, ctx: Context) -> Changes:
        """Start with the calls that returned the factory's result, to which the tensor was passed."""
        places = ctx.operand.creation_places
        source = _followed_stray(ctx)
        if source is None:
            return
        other = ctx.follow(source)
        yield from _register(other)
        sites = [_site_of(site, source) for place in places[1:] if (site := other.site_at(place, "argument"))]
        reason = f"It follows `{source.expression}`, which is on {source.device} and was never moved."
        for site in [*(each for each in sites if each.expressions), *other.sites()]:
            yield from (replace(each, reason=reason) for each in _move_at(ctx, site))


def _register(stray: Context) -> Changes:
    """Yield changes that register the tensor as a buffer where a module that has moved keeps it as an attribute."""
    for found in stray.stored_attributes():
        if found.module is None or found.module.device == stray.operand.device:
            continue
        for file, holder in classes_holding(stray.failure, stray.sources, found.attribute, found.module_type):
            assigned = assignments(file, f"self.{found.attribute}", holder)
            call = register_as_buffer(file, assigned[0]) if len(assigned) == 1 else None
            if call is not None:
                title = f"Register `self.{found.attribute}` as a buffer"
                yield from rewrite(file, {assigned[0]: cst.Expr(call)}, title)


def _move_at(ctx: Context, site: Site) -> Changes:
    """Yield changes at a site of the tensor that is followed; a template is not copied: the factory is told instead."""
    if site.kind not in ("argument", "use"):
        yield from with_safety(site.move_result(), Safety.UNSURE)
        return
    told = [each for made in ctx.creation_sites() if _is_template(site, made) for each in made.add_device()]
    yield from told or site.move_argument()


def _is_template(site: Site, made: Site) -> bool:
    """Return whether a site passes the tensor to the factory alone: `torch.zeros_like(x)`."""
    call = made.call(*FACTORIES)
    inside = {*made.file.within(call)} if call is not None else set()
    return any(node in inside for text in site.expressions for node in site.occurrences(text)[:1])


def _followed_stray(ctx: Context) -> ScopeVariable | None:
    """Return the tensor whose device the factory was given, if nobody moved it to where it is.

    An object that keeps this device beside the tensor declares nothing: it has read it there.
    """
    found = find_followed(ctx.failure, ctx.operand.creation_places, ctx.sources)
    if found is None or found.device != "cpu" or not _is_unmoved(ctx, found):
        return None
    return found if ctx.follow(found).moved_to("cpu") is None else None


def _is_unmoved(ctx: Context, variable: ScopeVariable) -> bool:
    """Return whether another tensor is on the operand's device and was created there."""
    if variable.kind != "tensor" or variable.device != ctx.operand.device or not variable.history:
        return False
    is_moved = bool(variable.transfers)
    return variable.history[0] != ctx.operand.history[0] and not is_moved


def _site_of(site: Site, source: ScopeVariable) -> Site:
    """Return the site with the names of the tensor there."""
    names = [each.expression for each in site.scope if each.kind == "tensor" and each.history == source.history]
    return site.with_names(*names)
