"""A module (the model, a criterion, a metric, a teacher) is never moved to the device of its inputs."""

from collections.abc import Iterator

import libcst as cst

from devfix.sdk import (
    Changes,
    Context,
    File,
    ModuleOwner,
    ModuleRule,
    ScopeVariable,
    Site,
    assignments,
    insert_after,
    last_name,
    match,
    move_to,
    parameters,
    rewrite,
)


class ModuleNotMoved(ModuleRule):
    """Moves the module as another one is moved below it, or where it is created, else before it is used.

    An object that was given the module and moves its inputs itself, such as a trainer, moves it in its constructor.
    """

    def explain(self, ctx: Context) -> str:
        """Report a parameter or buffer of a module that is entirely on another device than its input."""
        for owner, root in ctx.root_modules()[:1]:
            is_moved = bool(root.transfers)
            is_copy = ctx.operand.owner is not None and owner.kind != "attribute" and not ctx.is_held
            if root.device == ctx.operand.device and not (is_moved or is_copy) and not _is_inside(ctx, owner):
                return f"`{owner.root}` ({root.type}) was never moved, and its input is on {ctx.peer.device}."
        return ""

    def propose(self, ctx: Context) -> Changes:
        """Move what has buffers alone, such as a window, where it is used, if the module is constructed elsewhere."""
        yield from super().propose(ctx)
        for site in ctx.sites("use") if _has_buffers_alone(ctx) else ():
            yield from site.move_argument()

    def fix(self, ctx: Context) -> Changes:
        """Move it where another module is moved to the current GPU, else where it is constructed."""
        for owner, root in ctx.root_modules()[:1]:
            yield from _move_beside(ctx, owner)
            yield from _move_where_kept(ctx, root)
            yield from ctx.move_constructed(root)


def _has_buffers_alone(ctx: Context) -> bool:
    """Return whether a method uses a buffer of its own module, and the module is not known to have parameters."""
    owned = ctx.failure.owned_frames
    tensors = [each for each in owned[-1].scope if each.kind == "tensor"] if owned else []
    own = [each for each in tensors if each.expression.startswith("self.")]
    names = {each.expression for each in ctx.operand.names}
    return any(each.expression in names for each in own) and not any(each.type.endswith("Parameter") for each in own)


def _move_where_kept(ctx: Context, module: ScopeVariable) -> Changes:
    """Yield `self.model = model.to(self.device)` where what moved the input was given the module."""
    for place in (each.owned_place for each in reversed(ctx.peer.transfers)):
        file = ctx.sources.file(place) if place is not None else None
        call = file.call_at(place) if file is not None and place is not None else None
        moved = match(call, "$X.to($DEVICE)", "$X.to($DEVICE, non_blocking=True)")
        holder = file.class_of(call) if file is not None and call is not None else None
        if file is None or holder is None or moved is None:
            continue
        device = file.code(moved["DEVICE"])
        for name in _names_in_class(ctx, module, file, holder) if device.startswith("self.") else ():
            for kept in assignments(file, name, holder):
                yield from _move_kept(file, kept, name, device)


def _names_in_class(ctx: Context, module: ScopeVariable, file: File, holder: cst.ClassDef) -> list[str]:
    """Return the attributes by which running methods of a class know a module: `self.model`."""
    running = (each for each in ctx.failure.frames if each.place.path == file.path)
    scopes = (each.scope for each in running if each.place.function.startswith(f"{holder.name.value}."))
    modules = (each for scope in scopes for each in scope if each.kind == "module" and each.history == module.history)
    return sorted({each.expression for each in modules if each.expression.startswith("self.") and module.history})


def _move_kept(file: File, kept: cst.Assign | cst.AnnAssign, name: str, device: str) -> Changes:
    """Yield the move in the constructor that assigns a parameter to an attribute, once the device is known."""
    function, value = file.function_of(kept), kept.value
    if function is None or function.name.value != "__init__" or not isinstance(value, cst.Name):
        return
    lines = [each for each in function.body.body if assignments(file, device, each)]
    if value.value not in parameters(function) or not lines:
        return
    title = f"Move the module `{name}` to `{device}`, where it is kept"
    if file.line_of(lines[-1]) < file.line_of(kept):
        yield from rewrite(file, {value: move_to(value, device)}, title)
    else:
        yield from rewrite(file, insert_after(file, lines[-1], [f"{name}.to({device})"]), title)


def _move_beside(ctx: Context, owner: ModuleOwner) -> Changes:
    """Yield `criterion = criterion.cuda()` below the last `model = model.cuda()`, in the same branch."""
    site = ctx.site_of(owner.frame)
    made = assignments(site.file, owner.root, site.function) if site is not None else []
    for statement, call in reversed(list(_module_moves(ctx, site, owner.frame)) if site is not None and made else []):
        assert site is not None
        where = ctx.call_of(site.file, call)
        if where is None or site.file.line_of(statement) <= site.file.line_of(made[-1]):
            continue
        given = ", ".join(site.file.code(each) for each in call.args)
        move = f"{owner.root}.{last_name(call.func)}({given})"
        line = f"{owner.root} = {move}" if isinstance(statement, cst.Assign) else move
        yield from where.insert_after([line], f"Move the module `{owner.root}` as the one above it is moved")
        return


def _module_moves(ctx: Context, site: Site, frame: int) -> Iterator[tuple[cst.CSTNode, cst.Call]]:
    """Yield the statements of a running function that move a module to the current GPU, and the calls that do."""
    scope = ctx.failure.frames[frame].scope
    there = {each.expression for each in scope if each.kind == "module" and each.device == ctx.target_device}
    for call in site.file.own_nodes(site.function or site.file.module, cst.Call):
        moved, statement = match(call, "$X.cuda($$$)"), site.file.parent(call)
        if moved is not None and isinstance(statement, cst.Assign | cst.Expr):
            name = statement.targets[0].target if isinstance(statement, cst.Assign) else moved["X"]
            if site.file.code(name) in there:
                yield statement, call


def _is_inside(ctx: Context, owner: ModuleOwner) -> bool:
    """Return whether the module is in another one that does not register it, so that a move of the other misses it."""
    names = {each.expression for each in ctx.failure.frames[owner.frame].scope if each.kind == "module"}
    return any(owner.root.startswith((f"{name}.", f"{name}[")) for name in names)
