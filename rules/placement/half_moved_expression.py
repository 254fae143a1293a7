"""One tensor in an expression has the device, and a factory beside it does not."""

import libcst as cst

from devfix.sdk import (
    FACTORIES,
    Changes,
    Context,
    CreationRule,
    Event,
    File,
    Site,
    SourceLocation,
    add_keyword,
    argument,
    code,
    fill_message,
    is_move,
    last_name,
)


class HalfMovedExpression(CreationRule):
    """Passes the device of one factory to the others that are combined with it, or moves a tensor as the one beside."""

    kinds = ("factory", "constant")
    message = "{name} was created in {made_at} without a device"

    def matches(self, ctx: Context) -> bool:
        """Require that the same function created the peer on its device, or that the same statement moves it there.

        What another function has returned of a tensor, such as the statistics of a data set, is no half of it.
        """
        other, mine = ctx.view_peer(), ctx.created_at
        its, made = other.created_at, other.creation
        is_made = made is not None and self.is_creation(made) and made.device == other.operand.device
        is_beside = mine is not None and its is not None and (mine.path, mine.function) == (its.path, its.function)
        is_beside &= not any(_has_returned(ctx, event, mine) for each in (ctx, other) for event in each.operand.history)
        return (is_made and is_beside) or _move_beside(ctx) is not None

    def explain(self, ctx: Context) -> str:
        """Name the factory beside it as well."""
        done = "created on {device} in {made_at}" if _move_beside(ctx) is None else "moved to {device}"
        beside = f"beside {{name}}, which was {done}: half of the expression was moved."
        reason = super().explain(ctx)
        return reason and f"{reason}, {fill_message(beside, ctx.view_peer())}"

    def fix(self, ctx: Context, site: Site) -> Changes:
        """Copy the device from one factory to the others, or the move."""
        move = _move_beside(ctx)
        if move is not None and isinstance(site.node, cst.Call):
            title = f"Move `{site.file.code(site.node)}` as the tensor beside it is moved"
            yield from site.replace({site.node: _moved_so(site.node, move)}, title)
            return
        moved, wrong = ctx.call_at(ctx.view_peer().created_at, *FACTORIES), site.call(*FACTORIES)
        given = moved.argument("device") if moved is not None else None
        if moved is None or wrong is None or given is None or argument(wrong, "device") is not None:
            return
        device = code(given.value)
        edits = {each: add_keyword(each, "device", device) for each in _alike(site.file, wrong, moved.node)}
        title = f"Give `{site.file.code(wrong.func)}` the device `{device}`, as the one beside it has"
        yield from site.replace(edits, title)


def _has_returned(ctx: Context, event: Event, mine: SourceLocation | None) -> bool:
    """Return whether an event took place in another function than one of these, which has returned."""
    place = event.owned_place
    is_own = place is None or mine is None or (place.path, place.function) == (mine.path, mine.function)
    return not is_own and place is not None and ctx.frame_of(place) is None


def _move_beside(ctx: Context) -> cst.Call | None:
    """Return the call that moves the peer, in the statement that creates the operand: `ones(2).cuda() + ones(2)`."""
    other, site = ctx.view_peer(), ctx.site_at(ctx.created_at)
    place = other.moved_to(other.operand.device.partition(":")[0]) if other.operand.device != "cpu" else None
    if site is None or place is None or place.path != site.place.path:
        return None
    call = site.file.call_at(place)
    is_beside = call is not None and is_move(call) and site.file.statement_of(call) is site.statement
    is_beside &= call is None or not any(node is site.node for node in site.file.within(call))  # moved with it
    return call if is_beside and isinstance(site.statement, cst.SimpleStatementLine) else None


def _moved_so(node: cst.Call, move: cst.Call) -> cst.Call:
    """Return a call whose result another call's method moves: `ones(2).cuda()`."""
    assert isinstance(move.func, cst.Attribute)
    return move.with_changes(func=move.func.with_changes(value=node))


def _alike(file: File, wrong: cst.Call, moved: cst.Call) -> list[cst.Call]:
    """Return the factory itself, and those of its name without a device in statements that use the moved one's name."""
    function, name = file.function_of(wrong), _find_assigned(file, moved)
    calls = file.within(function, cst.Call) if function is not None and name else ()
    others = [node for node in calls if node is not wrong and last_name(node.func) == last_name(wrong.func)]
    without = [(node, file.statement_of(node)) for node in others if argument(node, "device") is None]
    return [wrong, *(node for node, line in without if line is not None and file.find(line, name))]


def _find_assigned(file: File, call: cst.Call) -> str:
    """Return the name to which a statement assigns the result of a call; "" if there is none."""
    statement = file.statement_of(call)
    lines = statement.body if isinstance(statement, cst.SimpleStatementLine) else ()
    targets = [each.targets[0].target for each in lines if isinstance(each, cst.Assign) and len(each.targets) == 1]
    return file.code(targets[0]) if targets and isinstance(targets[0], cst.Name) else ""
