"""A function creates two tensors, moves one of them, and returns both."""

from collections.abc import Iterator

import libcst as cst

from devfix.sdk import (
    Change,
    Context,
    File,
    OperandRule,
    Site,
    SourceLocation,
    assignments,
    expression,
    move_to,
    named_at,
)


class SiblingNotMoved(OperandRule):
    """Moves it as its sibling: where the statement that moves the sibling reads it, else by a copy of it."""

    def explain(self, ctx: Context) -> str:
        """Report an operand that was in scope, and not moved, when a function that has returned moved its peer."""
        other = ctx.view_peer()
        place = _sibling_moved(ctx, other)
        if place is None or ctx.operand.owner is not None or ctx.is_loop_item:
            return ""
        if not named_at(ctx.failure, place, ctx.operand):
            return ""
        siblings = named_at(ctx.failure, place, other.operand)
        sibling = f"`{siblings[0]}`" if siblings else other.name
        return (
            f"{ctx.name} stayed on {ctx.operand.device} in {place.shown}, where its sibling {sibling} was"
            f" moved to {other.operand.device}."
        )

    def propose(self, ctx: Context) -> Iterator[Change]:
        """Try each name of the operand that is not a name of its sibling."""
        other = ctx.view_peer()
        site = ctx.site_at(_sibling_moved(ctx, other), "derived")
        if site is None or site.statement is None:
            return
        siblings = _names(other, site)
        for name in (each for each in _names(ctx, site) if each not in siblings):
            for node in site.occurrences(name)[:1]:
                for device in site.device_expressions():
                    yield from site.replace(
                        {node: move_to(node, device)}, f"Move `{name}` to `{device}`, as its sibling"
                    )
            for sibling in siblings:
                yield from _repeat(site, sibling, name)


def _sibling_moved(ctx: Context, other: Context) -> SourceLocation | None:
    """Return where a function that has returned moved the peer to its device."""
    place = other.moved_to(other.operand.device.partition(":")[0]) if other.operand.owner is None else None
    return place if place is not None and ctx.frame_of(place) is None else None


def _names(ctx: Context, site: Site) -> list[str]:
    """Return the names of an operand at a site, those that its own history assigns if there are any."""
    file, names = site.file, named_at(ctx.failure, site.place, ctx.operand)
    steps = [file.root_at(each) for event in ctx.operand.history for each in event.places if each.path == file.path]
    statements = [file.statement_of(node) for node in steps if node is not None]
    own = [name for name in names if any(file.statement_of(each) in statements for each in assignments(file, name))]
    return own or names


def _repeat(site: Site, sibling: str, name: str) -> Iterator[Change]:
    """Yield `y = y.to(device)` below `x = x.to(device)`."""
    statement, file = site.statement, site.file
    assign = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1 else None
    if not isinstance(assign, cst.Assign) or len(assign.targets) != 1 or file.code(assign.targets[0].target) != sibling:
        return
    if not file.find(assign, name):
        alone = File("", file.code(assign).encode())
        again = alone.replaced({node: expression(name) for node in alone.find(alone.module, sibling)})
        yield from site.insert_after([again.code], f"Move `{name}` as `{sibling}` is moved")
