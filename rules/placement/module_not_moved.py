"""A module (the model, a criterion, a metric, a teacher) is never moved to the device of its inputs."""

from collections.abc import Iterator

from devfix.sdk import Change, Context, ModuleOwner, ModuleRule, root_modules


class ModuleNotMoved(ModuleRule):
    """Moves the module where it is created, else by a statement before it is used."""

    def explain(self, ctx: Context) -> str:
        """Report a parameter or buffer of a module that is entirely on another device than its input."""
        for owner, root in root_modules(ctx.failure, ctx.operand)[:1]:
            is_moved = any(event.kind == "move" for event in root.history)
            if root.device == ctx.operand.device and not is_moved and not _is_inside(ctx, owner):
                return f"`{owner.root}` ({root.type}) was never moved, and its input is on {ctx.peer.device}."
        return ""

    def fix(self, ctx: Context) -> Iterator[Change]:
        """Move it where it is constructed."""
        for _, root in root_modules(ctx.failure, ctx.operand)[:1]:
            yield from ctx.move_constructed(root)


def _is_inside(ctx: Context, owner: ModuleOwner) -> bool:
    """Return whether the module is in another one that does not register it, so that a move of the other misses it."""
    names = {each.expression for each in ctx.failure.frames[owner.frame].scope if each.kind == "module"}
    return any(owner.root.startswith((f"{name}.", f"{name}[")) for name in names)
