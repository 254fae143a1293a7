"""A function moves one of its tensors, and not another one that it has beside it."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import libcst as cst

from devfix.sdk import (
    Changes,
    Context,
    File,
    OperandRule,
    Site,
    SourceLocation,
    assigned_targets,
    assignments,
    device_text,
    expression,
    is_bound,
    is_move,
    last_name,
    method_call_on,
    move_to,
    parameters,
    remove_move,
)

Function = cst.FunctionDef | cst.Module


class SiblingNotMoved(OperandRule):
    """Moves it as its sibling: where the statement that moves the sibling reads it, else by a copy of it.

    Siblings are also the results of two calls of one function, and two attributes of one object that are read beside
    each other.
    """

    # The statement that moves the sibling says where the tensor was meant to be.
    supersedes = ("placement/batch-not-moved", "placement/input-not-moved", "state/accumulator-on-host")

    def explain(self, ctx: Context) -> str:
        """Report an operand that was in scope, and not moved, where a function moved its peer or another tensor."""
        beside = next(_moved_beside(ctx), None)
        if beside is not None:
            where = beside.file.place_of(beside.moved).shown
            return f"{ctx.name} stayed on {ctx.operand.device} in {where}, where `{beside.sibling}` was moved."
        twin = next(_twins(ctx), None)
        if twin is not None:
            file = twin.site.file
            where, shown, moved = file.place_of(twin.node).shown, file.code(twin.node), file.code(twin.move)
            return f"{ctx.name} comes from `{shown}` in {where}, beside `{moved}`, and was not moved."
        other = ctx.view_peer()
        place = _sibling_moved(ctx, other)
        if place is None or ctx.operand.owner is not None or ctx.is_loop_item or not ctx.names_at(place):
            return ""
        siblings = other.names_at(place)
        sibling = f"`{siblings[0]}`" if siblings else other.name
        return (
            f"{ctx.name} stayed on {ctx.operand.device} in {place.shown}, where its sibling {sibling} was"
            f" moved to {other.operand.device}."
        )

    def propose(self, ctx: Context) -> Changes:
        """Repeat the statement of a sibling in the same function; else try each name that is not one of the peer."""
        for beside in _moved_beside(ctx):
            moving = ctx.call_of(beside.file, beside.moved)
            if moving is not None:
                yield from _repeat(moving, beside.sibling, beside.name)
        for twin in _twins(ctx):
            file = twin.site.file
            device = device_text(twin.move)
            title = f"Move `{file.code(twin.node)}` to `{device}`, as its sibling"
            yield from twin.site.replace({twin.node: move_to(twin.node, device)}, title)
        other = ctx.view_peer()
        site = ctx.site_at(_sibling_moved(ctx, other), "derived")
        if site is None or site.statement is None:
            return
        siblings = _names(other, site)
        for name in (each for each in _names(ctx, site) if each not in siblings):
            for node in site.occurrences(name)[:1]:
                for device in site.device_expressions():
                    title = f"Move `{name}` to `{device}`, as its sibling"
                    yield from site.replace({node: move_to(node, device)}, title)
            for sibling in siblings:
                if sibling.startswith("self.") == name.startswith("self."):  # state is not moved as a variable is
                    yield from _repeat(site, sibling, name)


@dataclass(frozen=True)
class Beside:
    """A name of the operand, and the last statement of its function that moves a sibling: `moved` in `x = x.cuda()`."""

    file: File
    name: str
    sibling: str
    moved: cst.Call


def _moved_beside(ctx: Context) -> Iterator[Beside]:
    """Yield what a function that has a name for the operand moves of what it has beside it, the deepest first."""
    if ctx.operand.owner is not None or ctx.is_loop_item:
        return
    named = [(site, name) for site in ctx.uses() for name in site.expressions]
    named += [(site, target) for site in ctx.creation_sites() for target in _targets(site)]
    for site, name in reversed(named):
        around = site.function or site.file.module
        bound = _bound_at(site.file, around, name)
        moves = [each for each in _moves(site.file, around) if bound is not None and bound < site.file.line_of(each[1])]
        alike = [each for each in moves if each[0] != name and each[0].startswith("self.") == name.startswith("self.")]
        moved_too = any(own == name for own, _ in moves)
        if alike and not moved_too and _is_there(ctx, name, alike[-1][0]):
            yield Beside(site.file, name, *alike[-1])


@dataclass(frozen=True)
class Twin:
    """An expression for the operand, and a call in its function that moves one of the same form."""

    site: Site
    node: cst.BaseExpression
    move: cst.Call


def _twins(ctx: Context) -> Iterator[Twin]:
    """Yield what the operand comes from where something alike is moved: `grid(h, w)` beside `grid(h, w).to(device)`."""
    if ctx.operand.owner is not None or ctx.is_loop_item:
        return
    made = [(site, site.node) for site in ctx.sites("returned")]
    used = [(site, node) for site in ctx.uses() for text in site.expressions for node in site.occurrences(text)[:1]]
    for site, node in (*made, *reversed(used)):
        file = site.file
        if isinstance(node, cst.Call | cst.Attribute):
            calls = file.within(site.function or file.module, cst.Call)
            moves = (each for each in calls if is_move(each) and _is_alike(file, node, each))
            twins = (each for each in moves if _could_be_moved_so(file, node, each))
            yield from (Twin(site, node, each) for each in islice(twins, 1))


def _could_be_moved_so(file: File, node: cst.CSTNode, move: cst.Call) -> bool:
    """Return whether a node is reached whenever a move is, and can read the device to which that goes."""
    device = device_text(move)
    is_around = all(loop in file.loops_around(move) for loop in file.loops_around(node))
    return is_around and device not in ("", '"cpu"', "'cpu'") and is_bound(file, node, device)


def _is_alike(file: File, node: cst.Call | cst.Attribute, move: cst.Call) -> bool:
    """Return whether a call moves the result of the same function, or another attribute of the same object."""
    moved = remove_move(move)
    if moved is node or is_move(method_call_on(file, node)):
        return False
    if isinstance(node, cst.Call) and isinstance(moved, cst.Call):
        return file.code(node.func) == file.code(moved.func)
    if isinstance(node, cst.Attribute) and isinstance(moved, cst.Attribute):
        return file.code(node.value) == file.code(moved.value) and file.code(node) != file.code(moved)
    return False


def _targets(site: Site) -> list[str]:
    """Return the attributes that a statement assigns: `self.rows` of `self.rows = torch.zeros(3)`."""
    return [site.file.code(each) for each in assigned_targets(site.statement) if isinstance(each, cst.Attribute)]


def _moves(file: File, around: Function) -> Iterator[tuple[str, cst.Call]]:
    """Yield what a function assigns to itself, moved, and the call that moves it: `x = x.cuda()`."""
    for each in file.own_nodes(around, cst.Assign):
        target, value = file.code(each.targets[0].target), each.value
        is_own = len(each.targets) == 1 and is_move(value) and file.code(remove_move(value)) == target
        if isinstance(value, cst.Call) and is_own and last_name(value.func) != "cpu":
            yield target, value


def _bound_at(file: File, around: Function, name: str) -> int | None:
    """Return the line from which on a function has a name: that of its last assignment; None if it has none."""
    given = [file.line_of(each) for each in assignments(file, name, around)]
    if isinstance(around, cst.FunctionDef) and name in parameters(around):
        given.append(file.line_of(around))
    return max(given, default=None)


def _is_there(ctx: Context, name: str, sibling: str) -> bool:
    """Return whether a sibling is on the target device now, as far as the running functions know it."""
    for each in ctx.operand.names:
        holder = each.expression.rpartition(".")[0]
        beside = f"{holder}.{sibling.rpartition('.')[2]}" if name.startswith("self.") else sibling
        scope = ctx.failure.frames[each.frame].scope
        if any(var.kind == "tensor" and var.expression == beside and var.device != ctx.target_device for var in scope):
            return False
    return True


def _sibling_moved(ctx: Context, other: Context) -> SourceLocation | None:
    """Return where a function that has returned moved the peer to its device."""
    place = other.moved_to(other.operand.device.partition(":")[0]) if other.operand.owner is None else None
    return place if place is not None and ctx.frame_of(place) is None else None


def _names(ctx: Context, site: Site) -> list[str]:
    """Return the names of an operand at a site, those that its own history assigns if there are any."""
    file, names = site.file, ctx.names_at(site.place)
    steps = [file.root_at(each) for event in ctx.operand.history for each in event.places if each.path == file.path]
    statements = [file.statement_of(node) for node in steps if node is not None]
    own = [name for name in names if any(file.statement_of(each) in statements for each in assignments(file, name))]
    return own or names


def _repeat(site: Site, sibling: str, name: str) -> Changes:
    """Yield `y = y.to(device)` below `x = x.to(device)`."""
    file, assign = site.file, site.line
    if not isinstance(assign, cst.Assign) or len(assign.targets) != 1 or file.code(assign.targets[0].target) != sibling:
        return
    if not file.find(assign, name):
        alone = File("", file.code(assign).encode())
        again = alone.replace({node: expression(name) for node in alone.find(alone.module, sibling)})
        yield from site.insert_after([again.code], f"Move `{name}` as `{sibling}` is moved")
