"""Two tensors on different devices are combined: masks, weights, thresholds and indices follow the data."""

from collections.abc import Iterator

import libcst as cst

from devfix.sdk import (
    Changes,
    Confidence,
    Context,
    OperandRule,
    Safety,
    Site,
    assigned_targets,
    device_in,
    is_selected_from,
    is_written_to,
    with_safety,
)


class TwoLiveTensors(OperandRule):
    """Moves it where it is used, else where it is passed in, from the inside outward; then its peer."""

    confidence, reports_intentional = Confidence.GUESS, True
    message = "{name} is on {device} and meets a tensor on {peer}, which it should follow."

    def suspects(self, ctx: Context) -> Iterator[Context]:
        """Put output operands last: a write into a copy would be lost, so the other one should move.

        What comes to a part of a tensor that is kept (`kept[rows] += new`) is blamed in place of what is kept, and what
        the statement computes elsewhere for it first: `out[rows] = expert(x[rows].to(there)) * weights[rows]`.
        """
        every = sorted(ctx.suspects(), key=lambda each: (_is_result(each), not _is_sent_here(each)))
        return (each.view_peer() if _is_updated_here(each) else each for each in every)

    def matches(self, ctx: Context) -> bool:
        """Skip data on a GPU beside its indices, and a module's tensors that `to` moves, unless it is partly moved."""
        if is_selected_from(ctx.failure, ctx.operand):
            return False
        owner = ctx.operand.owner
        if owner is None or ctx.is_intentional or owner.kind == "attribute":
            return True
        own = device_in(ctx.failure, owner.frame, owner.expression)
        return owner.kind != "parameter" and "mixed" in (own, *(root.device for _, root in ctx.root_modules()))

    def propose(self, ctx: Context) -> Changes:
        """Move tensors without a name in scope where they were computed, in the failing statement or a call in it."""
        found = False
        for site in reversed(list(ctx.uses())):
            for each in (*site.move_added(), *site.move_list(), *site.move_argument()):
                yield from with_safety([each], Safety.UNSURE if found else Safety.LIKELY)
                found = True
        for site in reversed(list(ctx.sites("derived"))) if not found else ():
            if ctx.frame_of(site.place) is not None:
                yield from with_safety(site.move_result(), Safety.UNSURE)
        for other in _others(ctx):
            for site in other.sites("use"):
                yield from with_safety(list(site.move_added()) or site.move_argument(), _rate(ctx))


def _is_result(ctx: Context) -> bool:
    return is_written_to(ctx.failure, ctx.operand)


def _is_updated_here(ctx: Context) -> bool:
    """Return whether the failing statement writes into a part of what the operand is read from: `kept[rows] += new`.

    A copy of it would not be what is kept.
    """
    names = {each.expression for each in (*ctx.operand.names, *ctx.operand.sources)}
    return any(_part_written(site) in names for site in ctx.sites("use"))


def _is_sent_here(ctx: Context) -> bool:
    """Return whether the failing statement computes the operand of what it moves away from what it writes into."""
    moved, last = ctx.operand.transfers[-1:], ctx.operand.history[-1:]
    if not moved or moved == last:
        return False
    for site in ctx.sites("use"):
        place, written = moved[0].owned_place, _part_written(site)
        is_here = place is not None and site.file.statement_of(site.file.root_at(place) or site.node) is site.statement
        there = [each.device for each in site.scope if each.expression == written]
        is_here = is_here and not ctx.names_in(site.frame)
        if is_here and there == [ctx.peer.device]:
            return True
    return False


def _part_written(site: Site) -> str:
    line = site.line
    targets = assigned_targets(line) if isinstance(line, cst.Assign) else []
    targets += [line.target] if isinstance(line, cst.AugAssign) else []
    return next((site.file.code(each.value) for each in targets if isinstance(each, cst.Subscript)), "")


def _rate(ctx: Context) -> Safety:
    return Safety.LIKELY if _is_result(ctx) else Safety.UNSURE


def _stays(ctx: Context) -> bool:
    return _is_result(ctx) or is_selected_from(ctx.failure, ctx.operand)


def _others(ctx: Context) -> Iterator[Context]:
    """Yield what is written into the operand, and the other one of two that were placed on purpose: a run decides."""
    if _is_result(ctx):
        yield ctx.view_peer()
    for other in ctx.suspects() if ctx.is_intentional else ():
        if other.finding.operand != ctx.finding.operand and other.is_intentional and not _stays(other):
            yield other
