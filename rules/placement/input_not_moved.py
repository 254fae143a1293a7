"""A tensor is passed to code on another device without being moved."""

from devfix.sdk import (
    Changes,
    Confidence,
    Context,
    OperandRule,
    Site,
    assigned_targets,
    first_is_safe,
    moved_away,
)


class InputNotMoved(OperandRule):
    """Moves it as early as possible: where it is read or returned, else where it is passed on.

    A move further down may leave another use of the tensor on the old device.
    """

    confidence, reports_intentional = Confidence.INDIRECT, True

    def explain(self, ctx: Context) -> str:
        """Report what was never moved, or was moved if a parameter that it meets was moved to the host on purpose."""
        other = ctx.view_peer()
        is_brought_back = other.operand.device == "cpu" and other.moved_to("cpu") is not None
        is_module = is_brought_back and other.operand.owner is not None
        follows = is_module and moved_away(ctx.failure, other.operand, ctx.sources) is None
        if ctx.is_held or (ctx.is_intentional and not follows):
            return ""
        moved = "but" if ctx.is_intentional else "and was never moved, while"
        return f"{ctx.name} is on {ctx.operand.device}, {moved} it meets a tensor on {ctx.peer.device}."

    def propose(self, ctx: Context) -> Changes:
        """Start where a constructor keeps it, which is once; then where it is used, then where it was returned."""
        sites, loop = [site for site in ctx.sites() if _is_place(ctx, site)], ctx.loop_frame
        if loop is not None:
            sites = [site for site in sites if site.frame is not None and site.frame >= loop]
        sites.sort(key=lambda site: (not _is_kept(ctx, site), ctx.frame_of(site.place) is None))
        return first_is_safe(_move_at(site) for site in sites)


def _is_kept(ctx: Context, site: Site) -> bool:
    """Return whether a constructor keeps there what a call returned, in the attribute that holds the tensor.

    It may do so by a local name, which it assigns to the attribute later, or hands to the constructor of its base.
    """
    kept = {site.file.code(each) for each in assigned_targets(site.statement)}
    held = {each.expression for each in ctx.operand.names if each.relation == "same"}
    is_named = bool(kept) and all(map(str.isidentifier, kept)) and any(each.startswith("self.") for each in held)
    return site.kind == "returned" and site.is_in_constructor and (is_named or bool(kept & held))


def _is_place(ctx: Context, site: Site) -> bool:
    """Return whether the tensor comes in or is passed on at a site that is not before an intended move."""
    is_read = site.kind == "creation" and ctx.creation is not None and ctx.creation.kind in ("numpy", "load")
    is_way = is_read or site.kind in ("returned", "derived")
    return site.kind in ("argument", "use") or (is_way and not ctx.is_intentional)


def _move_at(site: Site) -> Changes:
    if site.kind in ("argument", "use"):
        yield from site.move_argument()
        yield from site.move_container()
    else:
        yield from site.move_result()
