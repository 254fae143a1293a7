"""An optimizer's state is loaded before the model is moved, and stays where the model was."""

import re

import libcst as cst

from devfix.sdk import (
    Changes,
    Context,
    File,
    OperandRule,
    Safety,
    SourceLocation,
    last_name,
    move_statement,
    rewrite,
)

OPTIMIZER = re.compile(r"\bopt|optim", re.IGNORECASE)


class OptimizerStateBeforeMove(OperandRule):
    """Moves the model before the state is loaded."""

    reports_intentional = True  # loading moves the state to where the parameters are
    message = (
        "the optimizer keeps state on {device} for parameters on {peer}: it was filled before the model was moved."
    )

    def concerns(self, ctx: Context) -> bool:
        """Require the step of an optimizer, and a module that was moved."""
        paths = [frame.place.path.replace("\\", "/").split("/") for frame in ctx.failure.frames]
        return any("optim" in path for path in paths) and _last_move(ctx) is not None

    def matches(self, ctx: Context) -> bool:
        """Require a tensor that is no parameter or gradient; its only name may be that of a loaded dictionary."""
        names = [each.expression for each in ctx.operand.names]
        is_state = ctx.operand.owner is None and all(each.endswith("]") for each in names)
        return is_state and (not ctx.is_intentional or _was_moved_by_loading(ctx))

    def propose(self, ctx: Context) -> Changes:
        """Put the statement that moves before the one that loads, in the block that contains both."""
        site = ctx.call_at(_last_move(ctx), "to", "cuda")
        if site is None or site.line is None or not isinstance(site.receiver, cst.Name):
            return  # more than `model.to(device)` or `model = model.to(device)`
        blocks = (each for each in site.file.ancestors(site.node) if isinstance(each, cst.IndentedBlock | cst.Module))
        for block in blocks:
            body = list(block.body)
            loaded = next((number for number, each in enumerate(body) if _loads(site.file, each)), len(body))
            moved = next((number for number, each in enumerate(body) if _contains(site.file, each, site.node)), 0)
            if moved > loaded:
                title = "Move the model before the optimizer's state is loaded"
                module = move_statement(site.file, block, moved, loaded)
                yield from rewrite(site.file, module, title, Safety.LIKELY)
                return
            if isinstance(site.file.parent(block), cst.FunctionDef):
                return


def _was_moved_by_loading(ctx: Context) -> bool:
    place = ctx.operand.transfers[-1].owned_place if ctx.operand.transfers else None
    return ctx.call_at(place, "load_state_dict") is not None


def _last_move(ctx: Context) -> SourceLocation | None:
    """Return where owned code last moved a module of the failing frames."""
    for binding in (each for frame in ctx.failure.owned_frames for each in frame.scope if each.kind == "module"):
        moves = [event.owned_place for event in binding.transfers if event.owned_place]
        if moves:
            return moves[-1]
    return None


def _contains(file: File, statement: cst.CSTNode, node: cst.CSTNode) -> bool:
    return statement is node or any(statement is each for each in file.ancestors(node))


def _loads(file: File, statement: cst.CSTNode) -> bool:
    called = (each.func for each in file.within(statement, cst.Call))
    return any(last_name(each) == "load_state_dict" and OPTIMIZER.search(file.code(each)) for each in called)
