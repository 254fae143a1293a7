"""One factory in an expression has the device, and another one does not."""

from collections.abc import Iterator

import libcst as cst

from devfix.sdk import (
    FACTORIES,
    Change,
    Context,
    CreationRule,
    File,
    Site,
    add_keyword,
    argument,
    code,
    fill_message,
    last_name,
)


class HalfMovedExpression(CreationRule):
    """Passes the device of one factory to the others that are combined with it."""

    kinds = ("factory", "constant")
    message = "{name} was created in {made_at} without a device"

    def matches(self, ctx: Context) -> bool:
        """Require that the same function created the peer on its current device."""
        other, mine = ctx.view_peer(), ctx.created_at
        its, made = other.created_at, other.creation
        is_made = made is not None and self.is_creation(made) and made.device == other.operand.device
        return (
            is_made and mine is not None and its is not None and (mine.path, mine.function) == (its.path, its.function)
        )

    def explain(self, ctx: Context) -> str:
        """Name the factory beside it as well."""
        beside = "beside {name}, which was created on {device} in {made_at}: half of the expression was moved."
        reason = super().explain(ctx)
        return reason and f"{reason}, {fill_message(beside, ctx.view_peer())}"

    def fix(self, ctx: Context, site: Site) -> Iterator[Change]:
        """Copy the device from one factory to the others."""
        moved, wrong = ctx.call_at(ctx.view_peer().created_at, *FACTORIES), site.call(*FACTORIES)
        given = moved.argument("device") if moved is not None else None
        if moved is None or wrong is None or given is None or argument(wrong, "device") is not None:
            return
        device = code(given.value)
        edits = {each: add_keyword(each, "device", device) for each in _alike(site.file, wrong, moved.node)}
        title = f"Give `{site.file.code(wrong.func)}` the device `{device}`, as the one beside it has"
        yield from site.replace(edits, title)


def _alike(file: File, wrong: cst.Call, moved: cst.Call) -> list[cst.Call]:
    """Return the factory itself, and those of its name without a device in statements that use the moved one's name."""
    function, name, found = file.function_of(wrong), _find_assigned(file, moved), [wrong]
    for node in file.within(function) if function is not None and name else ():
        if not isinstance(node, cst.Call) or node is wrong or last_name(node.func) != last_name(wrong.func):
            continue
        statement = file.statement_of(node)
        if argument(node, "device") is None and statement is not None and file.find(statement, name):
            found.append(node)
    return found


def _find_assigned(file: File, call: cst.Call) -> str:
    """Return the name to which a statement assigns the result of a call; "" if there is none."""
    statement = file.statement_of(call)
    lines = statement.body if isinstance(statement, cst.SimpleStatementLine) else ()
    targets = [each.targets[0].target for each in lines if isinstance(each, cst.Assign) and len(each.targets) == 1]
    return file.code(targets[0]) if targets and isinstance(targets[0], cst.Name) else ""
