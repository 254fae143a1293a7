"""A module is moved away by code that runs between two uses, such as code that saves it, and is not moved back."""

from itertools import repeat

import libcst as cst

from devfix.sdk import (
    CallSite,
    Changes,
    Context,
    File,
    OperandRule,
    Safety,
    first_is_safe,
    insert_after,
    insert_before,
    moved_away,
    rewrite,
)


class ModuleLeftOnHost(OperandRule):
    """Moves the module back behind the move, or behind the call of the function that moved it."""

    reports_intentional = True
    supersedes = ("placement/input-not-moved",)

    def explain(self, ctx: Context) -> str:
        """Report a parameter or buffer that was moved away since the failing code ran for the last time."""
        moved = moved_away(ctx.failure, ctx.operand, ctx.sources) if ctx.is_held else None
        if moved is None or moved.event.owned_place is None:
            return ""
        return (
            f"{ctx.name} was moved to {ctx.operand.device} in {moved.event.owned_place.shown}, after it had been used"
            f" on {ctx.peer.device}, and its module was not moved back."
        )

    def propose(self, ctx: Context) -> Changes:
        """Move it back in the function that still runs, else in the one that moved it."""
        moved = moved_away(ctx.failure, ctx.operand, ctx.sources)
        if moved is not None:
            module = ctx.misplaced_module(moved.frame)
            site = ctx.call_at(moved.place)
            if module is not None and site is not None:
                yield from _move_back(site, module.expression, not moved.is_in_callee)
            if moved.is_in_callee:
                yield from _put_back(ctx, ctx.call_at(moved.event.owned_place, "cpu", "to"))


def _move_back(site: CallSite, whole: str, is_moved_here: bool) -> Changes:
    """Yield changes that move the module to the right device once it is no longer used on the wrong one."""
    last = _end_of_use(site, whole, is_moved_here)
    if last is not None:
        devices = site.device_expressions()
        moved = [insert_after(site.file, last, [f"{whole}.to({device})"]) for device in devices]
        titles = [f"Move `{whole}` back to `{device}`" for device in devices]
        yield from first_is_safe(map(rewrite, repeat(site.file), moved, titles))


def _put_back(ctx: Context, call: CallSite | None) -> Changes:
    """Yield a change that puts the module, in the function that moves it, where it was."""
    receiver = call.receiver if call is not None else None
    if call is None or call.statement is None or not isinstance(receiver, (cst.Name, cst.Attribute)):
        return
    if ctx.operand.owner is None or ctx.operand.owner.kind != "parameter":
        return
    whole, name = call.file.code(receiver), call.free_name("device", "old_device", "device_before")
    last = _end_of_use(call, whole, True)
    after = insert_after(call.file, last, [f"{whole}.to({name})"]) if last is not None else None
    if after is None:
        return
    moved_back = File(call.file.path, after.code.encode())
    node = moved_back.root_at(call.place)  # above what was inserted
    statement = moved_back.statement_of(node) if node is not None else None
    if statement is not None:
        module = insert_before(moved_back, statement, [f"{name} = next({whole}.parameters()).device"])
        yield from rewrite(call.file, module, f"Move `{whole}` back to where it was", Safety.LIKELY)


def _end_of_use(site: CallSite, text: str, is_moved_here: bool) -> cst.CSTNode | None:
    """Return the statement after which a module is no longer used where it was moved to; None if there may be none.

    What a function moved that has returned was used there. So was what a statement hands on, such as
    `torch.save(model.cpu(), path)`; what a statement only moves is used by the others of its block.
    """
    line = site.statement
    last: cst.CSTNode | None = line
    block = site.file.parent(line) if line is not None else None
    is_alone = isinstance(site.file.parent(site.node), (cst.Expr, cst.Assign))
    if is_moved_here and is_alone and isinstance(block, (cst.IndentedBlock, cst.Module)):
        below = list(block.body)
        while below[0] is not line:
            del below[0]
        last = next(each for each in reversed(below) if each is line or site.file.find(each, text))
    leaves = (cst.Return, cst.Raise, cst.Break, cst.Continue)
    return None if last is None or any(isinstance(each, leaves) for each in site.file.within(last)) else last
