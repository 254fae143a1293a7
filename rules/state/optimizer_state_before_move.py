"""An optimizer's state is loaded before the model is moved, and stays where the model was."""

from collections.abc import Iterator

import libcst as cst

from devfix.sdk import CallSite, Change, Context, File, OperandRule, Safety, SourceLocation, last_name, rewrite


class OptimizerStateBeforeMove(OperandRule):
    """Moves the model before the state is loaded."""

    message = (
        "the optimizer keeps state on {device} for parameters on {peer}: it was filled before the model was moved."
    )

    def concerns(self, ctx: Context) -> bool:
        """Require the step of an optimizer, and a module that was moved."""
        paths = [frame.place.path.replace("\\", "/").split("/") for frame in ctx.failure.frames]
        return any("optim" in path for path in paths) and _last_move(ctx) is not None

    def matches(self, ctx: Context) -> bool:
        """Require a tensor without a name."""
        return not ctx.operand.names

    def propose(self, ctx: Context) -> Iterator[Change]:
        """Put the statement that moves before the one that loads, if both are in one block."""
        site = ctx.call_at(_last_move(ctx), "to", "cuda")
        parent = site.file.parent(site.statement) if site is not None and _is_whole(site) and site.statement else None
        if site is None or not isinstance(parent, cst.IndentedBlock | cst.Module):
            return
        body = list(parent.body)
        loaded = next((number for number, each in enumerate(body) if _loads(site.file, each)), len(body))
        if any(each is site.statement for each in body[loaded:]):
            body.insert(loaded, body.pop(next(number for number, each in enumerate(body) if each is site.statement)))
            new = parent.with_changes(body=body)
            title = "Move the model before the optimizer's state is loaded"
            module = new if isinstance(new, cst.Module) else site.file.replaced({parent: new})
            yield from rewrite(site.file, module, title, Safety.LIKELY)


def _last_move(ctx: Context) -> SourceLocation | None:
    """Return where owned code last moved a module of the failing frames."""
    for binding in (each for frame in ctx.failure.owned_frames for each in frame.scope if each.kind == "module"):
        moves = [event.owned_place for event in binding.history if event.kind == "move" and event.owned_place]
        if moves:
            return moves[-1]
    return None


def _is_whole(site: CallSite) -> bool:
    """Return whether a statement only moves a model: `model.to(device)`, `model = model.to(device)`."""
    is_line = isinstance(site.statement, cst.SimpleStatementLine) and len(site.statement.body) == 1
    return is_line and isinstance(site.receiver, cst.Name)


def _loads(file: File, statement: cst.CSTNode) -> bool:
    calls = [each for each in file.within(statement) if isinstance(each, cst.Call)]
    return any(last_name(each.func) == "load_state_dict" and "optim" in file.code(each.func).lower() for each in calls)
