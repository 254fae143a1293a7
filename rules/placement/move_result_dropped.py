"""The result of `tensor.to(device)` is dropped, or used once, and the old tensor is used further."""

from itertools import takewhile

import libcst as cst

from devfix.sdk import (
    CallSite,
    Changes,
    Context,
    File,
    OperandRule,
    Safety,
    expression,
    is_local,
    replace_statement,
    rewrite,
)

MOVES = ("to", "cuda", "cpu")
SCOPES = (cst.Lambda, cst.BaseComp)  # names bound in these are not visible to the statement


class MoveResultDropped(OperandRule):
    """Assigns the result of a move that is a statement, or is passed on directly, to the name that was moved."""

    reports_intentional = True

    def explain(self, ctx: Context) -> str:
        """Report an operand of which a copy was made on the right device, while the operand itself was used further."""
        copy, owner = ctx.operand.copy, ctx.operand.owner
        place = copy.owned_place if copy is not None else None
        # A parameter's `.to()` does not return a parameter; a module moves its own.
        is_parameter = owner is not None and owner.kind == "parameter"
        if copy is None or place is None or copy.device != ctx.peer.device or is_parameter:
            return ""
        return (
            f"{ctx.name} was copied to {copy.device} in {place.shown}, but it is the old tensor, on"
            f" {ctx.operand.device}, that is used."
        )

    def propose(self, ctx: Context) -> Changes:
        """Assign the result if the move is a statement, else before its statement.

        The statement may call the move of an object that returns another one with what it holds moved.
        """
        copy = ctx.operand.copy
        places = [place for place in copy.places if place.owned] if copy is not None else []
        sites = [site for place in places if (site := ctx.call_at(place, *MOVES)) is not None]
        statements = [site for site in sites if isinstance(site.file.parent(site.node), cst.Expr)]
        site = next(iter((*statements, *sites[:1])), None)
        alone = site.file.parent(site.node) if site is not None else None
        if site is None or site.receiver is None:
            return
        title = f"Keep the result of `{site.file.code(site.node)}`"
        if not isinstance(alone, cst.Expr):
            yield from rewrite(site.file, _keep_before(site), title, Safety.LIKELY)
        elif isinstance(target := _target(site, site.receiver), cst.Name | cst.Attribute | cst.Subscript):
            kept = cst.Assign(targets=[cst.AssignTarget(target)], value=site.node)
            yield from site.replace({alone: kept}, title)


def _keep_before(site: CallSite) -> cst.Module | None:
    """Return the move to insert before its statement, unless no later statement reads the name."""
    file, call, moved, statement = site.file, site.node, site.receiver, site.statement
    if not isinstance(moved, cst.Name) or not isinstance(statement, cst.SimpleStatementLine):
        return None
    if site.function is not None and not is_local(site.function, moved.value):
        return None
    around = list(takewhile(lambda node: node is not statement, file.ancestors(call)))
    if any(isinstance(node, SCOPES) for node in around) or isinstance(around[-1], cst.Return):
        return None
    if isinstance(around[-1], cst.Assign | cst.AnnAssign) and around[-1].value is call:
        return None  # the copy has its own name
    reads = file.find(site.function or file.module, moved.value)
    if not any(file.line_of(each) > file.line_of(call) for each in reads):
        return None
    rest = cst.ensure_type(statement.deep_replace(call, moved), cst.SimpleStatementLine)
    bare = cst.Module([rest.with_changes(leading_lines=(), trailing_whitespace=cst.TrailingWhitespace())])
    return replace_statement(file, statement, [f"{moved.value} = {file.code(call)}", bare.code])


def _target(site: CallSite, moved: cst.BaseExpression) -> cst.BaseExpression | None:
    """Return the target of the assignment: the name itself, or the container of a loop variable not read again."""
    file, call = site.file, site.node
    for loop in file.loops_around(call) if isinstance(moved, cst.Name) else ():
        if isinstance(loop, cst.For) and isinstance(moved, cst.Name) and file.find(loop.target, moved.value):
            read_again = any(file.line_of(each) > file.line_of(call) for each in file.find(loop.body, moved.value))
            return moved if read_again else _entry(file, loop, moved)
    return moved


def _entry(file: File, loop: cst.For, moved: cst.Name) -> cst.BaseExpression | None:
    """Return `batch[key]` for the `value` of `for key, value in batch.items()`; None for other loops."""
    whole, dot, method = file.code(loop.iter).rpartition(".")
    names = [file.code(each.value) for each in loop.target.elements] if isinstance(loop.target, cst.Tuple) else []
    if dot and method == "items()" and len(names) == 2 and names[1] == moved.value:
        return expression(f"{whole}[{names[0]}]")
    return None
