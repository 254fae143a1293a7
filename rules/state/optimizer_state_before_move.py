"""An optimizer's state is made or loaded before the model is moved, and stays where the model was."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from devfix.sdk import (
    CallSite,
    Changes,
    Context,
    Event,
    File,
    OperandRule,
    Safety,
    ScopeVariable,
    Site,
    assigned_values,
    is_bound,
    last_name,
    parameters,
    reorder,
    rewrite,
)

OPTIMIZER = re.compile(r"\bopt|optim", re.IGNORECASE)
ELEMENT = re.compile(r"""(?P<name>[\w.]+)\[(?P<key>\d+|(["']).*\3)\]""")
Block = cst.IndentedBlock | cst.Module


@dataclass(frozen=True)
class Order:
    """A block in which the statement of number `filled` fills the state, before the one of number `moved` moves."""

    block: Block
    filled: int
    moved: int


@dataclass(frozen=True)
class Held:
    """A name of an optimizer, or of a container of some: `items` is what a loop over them reads, else ""."""

    name: str
    items: str = ""

    @classmethod
    def of(cls, text: str) -> Held:
        """Return what holds the optimizer of an expression: for `self.made[0]`, the container `self.made`."""
        found = ELEMENT.fullmatch(text)
        if found is None:
            return cls(text)
        return cls(found["name"], found["name"] if found["key"].isdigit() else f"{found['name']}.values()")


class OptimizerStateBeforeMove(OperandRule):
    """Moves the model before the state is made or loaded; moves the state behind it where another function moves it."""

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
        """Change the order of two statements in the block that contains both; else move the state after the model."""
        event = _last_move(ctx)
        site = ctx.call_at(event.owned_place, "to", "cuda") if event is not None else None
        order = _order(ctx, site) if site is not None and _is_plain(site) else None
        if site is not None and order is not None:
            yield from _change_order(site.file, order)
        if event is not None and _left_it(ctx, event):
            yield from _with_state(ctx, event)


def _was_moved_by_loading(ctx: Context) -> bool:
    place = ctx.operand.transfers[-1].owned_place if ctx.operand.transfers else None
    return ctx.call_at(place, "load_state_dict") is not None


def _last_move(ctx: Context) -> Event | None:
    """Return how owned code last moved a module of the failing frames, first one with the parameter of a gradient."""
    modules = [each for frame in ctx.failure.owned_frames for each in frame.scope if each.kind == "module"]
    names = [name.expression for each in ctx.failure.operands for name in each.names]
    modules.sort(key=lambda module: not any(name.startswith(f"{module.expression}.") for name in names))
    for module in modules:
        moves = [event for event in module.transfers if event.owned_place]
        if moves:
            return moves[-1]
    return None


def _is_plain(site: CallSite) -> bool:
    """Return whether a statement does no more than to move a model: `model.to(device)`, `net = net.to(device)`."""
    names = site.file.within(site.receiver) if site.receiver is not None else ()
    is_name = site.receiver is not None and all(
        isinstance(each, cst.Name | cst.Attribute | cst.Dot | cst.BaseParenthesizableWhitespace) for each in names
    )
    return is_name and isinstance(site.line, cst.Expr | cst.Assign) and site.line.value is site.node


def _left_it(ctx: Context, event: Event) -> bool:
    """Return whether a move brought the model to the GPU where its gradients are, and the state was made elsewhere."""
    made = ctx.creation
    return event.device == ctx.peer.device != "cpu" and made is not None and made.kind == "factory"


def _order(ctx: Context, site: CallSite) -> Order | None:
    """Return the innermost block in which the state is filled before the model is moved."""
    file, places = site.file, ctx.creation.places if ctx.creation is not None else ()
    roots = [file.root_at(each) for each in places if each.path == file.path]
    for block in (each for each in file.ancestors(site.node) if isinstance(each, cst.IndentedBlock | cst.Module)):
        body = list(block.body)
        moved = next((number for number, each in enumerate(body) if _contains(file, each, site.node)), 0)
        for number, each in enumerate(body[:moved]):
            is_made = any(root is not None and _contains(file, each, root) for root in roots)
            if _loads(file, each) or (is_made and not isinstance(each, cst.FunctionDef | cst.ClassDef)):
                return Order(block, number, moved)
        if isinstance(file.parent(block), cst.FunctionDef):
            return None
    return None


def _change_order(file: File, order: Order) -> Changes:
    """Yield the file with the model moved earlier; where that needs what is between, with the state filled later."""
    changed = reorder(file, order.block, order.filled, order.moved)
    if changed is None:
        return
    if _loads(file, order.block.body[order.filled]):
        titles = (
            "Move the model before the optimizer's state is loaded",
            "Load the optimizer's state after the model is moved",
        )
    else:
        titles = "Move the model before the optimizer is made", "Make the optimizer after the model is moved"
    yield from rewrite(file, changed.module, titles[0 if changed.is_earlier else 1], Safety.LIKELY)


def _with_state(ctx: Context, event: Event) -> Changes:
    """Yield a change that moves the state after the model, in the innermost function that knows the optimizer.

    A state that is loaded into its own optimizer is put where the parameters are, as torch wants it there.
    """
    for place in event.places:
        site = ctx.site_at(place) if place.owned else None
        if site is None or not isinstance(site.line, cst.Expr | cst.Assign):
            continue
        held = dict.fromkeys(Held.of(each) for each in _optimizers(ctx, site))
        known = [each for each in held if _is_set(site, each.name)]
        if known:
            named = ", ".join(f"`{each.name}`" for each in known)
            lines = [_loading(site, each) for each in known]
            yield from site.insert_after(lines, f"Move the state of {named} after the model", Safety.LIKELY)
            return


def _optimizers(ctx: Context, site: Site) -> Iterator[str]:
    """Yield the optimizers of the failing frames, as the function at a site names them."""
    function, holder = site.function, site.file.class_of(site.node)
    own = parameters(function)[:1] if function is not None else []
    for frame in reversed(ctx.failure.owned_frames):
        found = [each.expression for each in frame.scope if each.kind == "optimizer" and each.device == ctx.peer.device]
        if (frame.place.path, frame.place.function) == (site.place.path, site.place.function):
            yield from (each for each in found if is_bound(site.file, site.node, each))
        owners = [each for each in frame.scope if holder is not None and _is_object_of(each, holder.name.value)]
        for owner in owners if own else ():
            parts = (each.removeprefix(owner.expression) for each in found if each.startswith(f"{owner.expression}."))
            yield from (f"{own[0]}{part}" for part in parts)


def _is_object_of(variable: ScopeVariable, name: str) -> bool:
    names = (variable.type, *(each.rpartition(".")[2] for each in variable.classes))
    return variable.kind in ("object", "instance", "module") and name in names


def _is_set(site: Site, name: str) -> bool:
    """Return whether a name is known to be bound: an attribute is if a constructor of the class assigns it."""
    holder = site.file.class_of(site.node)
    if holder is None or not name.startswith("self."):
        return name.isidentifier() or holder is None
    around = (site.file.function_of(each) for each in assigned_values(site.file, name, holder))
    return any(each is not None and each.name.value == "__init__" for each in around)


def _loading(site: Site, held: Held) -> str:
    """Return the statement that loads the state of an optimizer, or of each one of a container, into itself."""
    one = held.name
    if held.items:
        one = site.free_name("optimizer", "each")
    line = f"{one}.load_state_dict({one}.state_dict())  # its state follows the parameters"
    if held.items:
        line = f"for {one} in {held.items}:\n    {line}"
    holder = site.file.class_of(site.node)
    values = assigned_values(site.file, held.name, holder) if holder is not None else []
    if any(site.file.code(each) == "None" for each in values):
        inner = line.replace("\n", "\n    ")
        line = f"if {held.name} is not None:\n    {inner}"
    return line


def _contains(file: File, statement: cst.CSTNode, node: cst.CSTNode) -> bool:
    return statement is node or any(statement is each for each in file.ancestors(node))


def _loads(file: File, statement: cst.CSTNode) -> bool:
    called = (each.func for each in file.within(statement, cst.Call))
    return any(last_name(each) == "load_state_dict" and OPTIMIZER.search(file.code(each)) for each in called)
